import type { Database, Row, Statement } from "../../database/database.ts";
import type { ToolThread } from "../../database/tool-database.ts";
import { manifestFileName } from "../archive-disk.ts";
import { findDatabases } from "./find-databases.ts";
import { IndexReader } from "./index-reader.ts";
import { openForTool } from "./index-source.ts";
import { loadManifestWithin } from "./load-manifest-within.ts";
import type { OpenedPlace } from "./open-place.ts";
import { PruneLogReader, type PrunedLine } from "./prune-log.ts";

/**
 * How many lines of the log are looked up with one statement, and how many rows are removed at once. In a bucket the lines come from many
 * objects.
 */
const linesAtOnce = 500;

export interface PruneIndexOptions {
  /** Files are opened in it. */
  readonly thread: ToolThread;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Removes the rows of deleted packages from the indexes: of all packages in the log that they may contain, since an earlier
 * run may have failed to. Node-RED may have a database open, so each transaction takes only milliseconds. Returns how many rows were
 * removed; rejects with ERR_STORE if a database cannot be written, and changes nothing in a damaged one.
 */
export async function pruneIndexes(
  place: OpenedPlace,
  given: string,
  { thread, signal }: PruneIndexOptions,
): Promise<number> {
  let removed = 0;
  for (const file of await findDatabases(given, { key: place.key, name: place.location }, thread)) {
    removed += await pruneIndex(place, file, { thread, signal });
  }
  return removed;
}

async function pruneIndex(
  place: OpenedPlace,
  file: string,
  { thread, signal }: PruneIndexOptions,
): Promise<number> {
  const index = await IndexReader.open(file, thread);
  try {
    // Writing to a damaged file would increase the damage. Meanwhile, the log of what Node-RED writes cannot be emptied.
    await index.check("quick");
  } finally {
    await index.close();
  }
  const database = await openForTool(file, "write", thread);
  let removed = 0;
  try {
    // No package in the index was deleted before the first of them was archived.
    const [[{ since } = {}] = []] = await database.transaction([
      { sql: "SELECT min(archived_at) AS since FROM packages" },
    ]);
    if (typeof since !== "string") {
      return 0;
    }
    const waiting = new Map<string, PrunedLine>();
    // Only the whole log says whether a deletion was taken back.
    const logged = new Map<string, Row>();
    for await (const entries of new PruneLogReader(place.root, place.disk).read(since)) {
      for (const line of entries) {
        signal?.throwIfAborted();
        // A package that was kept after all may be lost later, and its row then shows it.
        if (line.kept === true) {
          waiting.delete(keyOf(line));
          logged.delete(keyOf(line));
          continue;
        }
        if (waiting.size >= linesAtOnce) {
          await findRows(database, take(waiting), logged);
        }
        waiting.set(keyOf(line), line);
      }
    }
    await findRows(database, take(waiting), logged);
    const rows = [...logged.values()];
    for (let at = 0; at < rows.length; at += linesAtOnce) {
      signal?.throwIfAborted();
      removed += await removeRows(database, place, rows.slice(at, at + linesAtOnce));
    }
  } finally {
    await database.close();
  }
  return removed;
}

function keyOf({ path, sha256 }: Pick<PrunedLine, "path" | "sha256">): string {
  return `${sha256} ${path}`;
}

function take(waiting: Map<string, PrunedLine>): PrunedLine[] {
  const lines = [...waiting.values()];
  waiting.clear();
  return lines;
}

/** Adds the rows of these packages, by the keys of their lines. */
async function findRows(
  database: Database,
  lines: readonly PrunedLine[],
  logged: Map<string, Row>,
): Promise<void> {
  if (lines.length === 0) {
    return;
  }
  const deleted = new Set(lines.map(keyOf));
  const [listed = []] = await database.transaction([
    {
      sql: `SELECT package_id, location, manifest_sha256 FROM packages
        WHERE location IN (${lines.map(() => "?").join(", ")})`,
      values: lines.map(({ path }) => path),
    },
  ]);
  for (const row of listed) {
    const key = keyOf({ path: String(row["location"]), sha256: String(row["manifest_sha256"]) });
    if (deleted.has(key)) {
      logged.set(key, row);
    }
  }
}

async function removeRows(database: Database, place: OpenedPlace, rows: readonly Row[]): Promise<number> {
  const statements: Statement[] = [];
  for (const row of rows) {
    if (!(await isThere(place, row))) {
      statements.push({
        sql: "DELETE FROM packages WHERE package_id = ? AND manifest_sha256 = ? RETURNING package_id",
        values: [row["package_id"] ?? null, row["manifest_sha256"] ?? null],
      });
    }
  }
  const gone = statements.length > 0 ? await database.transaction(statements) : [];
  return gone.flat().length;
}

/** A deleted package may have been restored from a backup, or was kept after all. */
async function isThere({ root, disk }: OpenedPlace, row: Row): Promise<boolean> {
  const path = `${String(row["location"])}/${manifestFileName}`;
  const found = await loadManifestWithin(root, path, disk);
  return typeof found === "object" && found.sha256 === row["manifest_sha256"];
}
