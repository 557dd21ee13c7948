import { join } from "node:path";
import type { Database, Row, Statement } from "../database/database.ts";
import type { ToolThread } from "../database/tool-database.ts";
import { isDimensionerError } from "../errors/dimensioner-error.ts";
import type { ArchiveProgress, PrunedPackage } from "../model/archive-reports.ts";
import { type ReadDisk, exists, holdName, manifestFileName } from "./archive-disk.ts";
import { IndexReader, findDatabases, openForTool } from "./index-reader.ts";
import type { OpenedPlace } from "./open-place.ts";
import { loadManifest } from "./packages/package-files.ts";
import { PruneLog, PruneLogReader, type PrunedLine, bytesOf } from "./prune-log.ts";
import {
  type ArchiveEntry,
  Holds,
  type WalkedPackage,
  findHeld,
  inParallel,
  loadManifestWithin,
  sayRetained,
  straysIn,
  surveyBucket,
  walkBucket,
  walkPackages,
} from "./walk.ts";

export interface PruneOptions {
  /** Packages archived before this are deleted. */
  readonly before: Date;
  /** Only reports what would be deleted. */
  readonly isDryRun: boolean;
  /** Aborting ends the run between two packages with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** What is found before anything is deleted. */
interface Found {
  readonly holds: Holds;
  readonly entries: AsyncGenerator<ArchiveEntry>;
}

/**
 * In a bucket, where each addition to a log is an object, so many packages are noted with one. The first one is alone: if
 * nothing can be deleted, no other one is in the log.
 */
const notedAtOnce = { folder: 1, s3: 100 } as const;
const workedAtOnce = { folder: 1, s3: 4 } as const;

/**
 * Deletes packages because of their age. Only what its own manifest shows to be a package is ever deleted; a file named hold
 * keeps a package with its supplements. Each deletion is in the log before it happens.
 */
export class Pruning {
  readonly #place: OpenedPlace;
  readonly #options: PruneOptions;
  readonly #log: PruneLog;
  #hasDeleted = false;
  #packages = 0;
  #bytes = 0;

  constructor(place: OpenedPlace, options: PruneOptions) {
    this.#place = place;
    this.#options = options;
    this.#log = new PruneLog(place.files);
  }

  /** How much was processed so far. */
  progress(): ArchiveProgress {
    return { packages: this.#packages, bytes: this.#bytes, expectedPackages: null, expectedBytes: null };
  }

  async *run(): AsyncGenerator<PrunedPackage> {
    const { before, isDryRun, signal } = this.#options;
    const { files, hasState } = this.#place;
    if (!isDryRun && hasState && files.kind === "folder") {
      for (const path of await files.emptyTrash()) {
        yield { what: "held", path, bytes: 0, reason: "hold" };
      }
    }
    const { holds, entries } = await this.#find();
    const old: WalkedPackage[] = [];
    for await (const entry of entries) {
      signal?.throwIfAborted();
      if (entry.kind === "archive") {
        const reason = "it is a separate archive: prune it on its own";
        yield { what: "kept", path: entry.path, bytes: 0, reason };
        continue;
      }
      this.#packages += 1;
      this.#bytes += bytesOf(entry);
      if (new Date(entry.manifest.times.archived) < before) {
        old.push(entry);
      }
      if (old.length >= (this.#hasDeleted ? notedAtOnce[files.kind] : 1)) {
        yield* this.#prune(old.splice(0), holds);
      }
    }
    yield* this.#prune(old, holds);
  }

  async #find(): Promise<Found> {
    const { files, root, start } = this.#place;
    const { signal } = this.#options;
    const holds = await Holds.begin(files);
    if (files.kind === "folder") {
      await findHeld(files, holds, signal);
      return { holds, entries: packagesIn(root, start, files.disk) };
    }
    const survey = await surveyBucket(files, holds, signal);
    return { holds, entries: walkBucket(files, start, survey) };
  }

  /** Deletes packages that are old enough, in any order. */
  async *#prune(packages: readonly WalkedPackage[], holds: Holds): AsyncGenerator<PrunedPackage> {
    const due: WalkedPackage[] = [];
    for await (const { entry, result } of this.#each(packages, (one) => this.#judge(one, holds))) {
      if (result.what === "deleted" && !this.#options.isDryRun) {
        due.push(entry);
      } else {
        yield result;
      }
    }
    if (due.length === 0) {
      return;
    }
    const deleted = new Set<WalkedPackage>();
    let isDone = false;
    try {
      await this.#log.add(due);
      for await (const { entry, result } of this.#each(due, (one) => this.#remove(one, holds))) {
        if (result.what === "deleted") {
          this.#hasDeleted = true;
          deleted.add(entry);
        }
        yield result;
      }
      isDone = true;
    } finally {
      const noted = this.#takeBack(due.filter((one) => !deleted.has(one)));
      await (isDone ? noted : noted.catch(() => undefined));
    }
  }

  /** What is still there must not stay in the log, or nobody would notice that it is lost later. */
  async #takeBack(packages: readonly WalkedPackage[]): Promise<void> {
    const there: WalkedPackage[] = [];
    const { kind } = this.#place.files;
    const look = async (entry: WalkedPackage) => ((await this.#isThere(entry)) ? [entry] : []);
    for await (const found of inParallel(packages, workedAtOnce[kind], look)) {
      there.push(...found);
    }
    await this.#log.addKept(there);
  }

  /** What cannot be read in a folder may be there: to report it as missing is better than not to. */
  async #isThere({ folder, sha256 }: WalkedPackage): Promise<boolean> {
    const { disk, kind } = this.#place.files;
    try {
      const found = await loadManifest(join(folder, manifestFileName), disk);
      return found === "damaged" || (found !== "none" && found.sha256 === sha256);
    } catch (error) {
      // A bucket that fails would fail for each package.
      if (kind === "s3") {
        throw error;
      }
      return true;
    }
  }

  async #judge(entry: WalkedPackage, holds: Holds): Promise<PrunedPackage> {
    const { files } = this.#place;
    const reason = holds.has(entry) ? "hold" : await reasonToKeep(entry, files.disk);
    if (reason !== null) {
      return keptFor(entry, reason);
    }
    const untilMs = files.kind === "s3" ? await files.retainedUntilMs(entry.folder) : 0;
    return untilMs > Date.now() ? keptFor(entry, sayRetained(untilMs)) : resultOf(entry, "deleted");
  }

  /** A hold may have been set since the package was judged, on it or on another one that belongs to it. */
  async #remove(entry: WalkedPackage, holds: Holds): Promise<PrunedPackage> {
    const { files, start } = this.#place;
    const reason = (await holds.hasNow(entry)) ? "hold" : await reasonToKeep(entry, files.disk);
    if (reason !== null) {
      return keptFor(entry, reason);
    }
    try {
      if (!(await files.removePackage(entry.folder, start, () => holds.hasNow(entry)))) {
        return keptFor(entry, "hold");
      }
    } catch (error) {
      // Not every object store says beforehand what it protects.
      const isProtected = isDimensionerError(error) && error.sentence === "bucketProtected";
      if (isProtected && (await exists(join(entry.folder, manifestFileName), files.disk))) {
        return keptFor(entry, error.message);
      }
      throw error;
    }
    return resultOf(entry, "deleted");
  }

  /** What cannot be deleted in a folder does not end the run. A bucket that fails would fail for each package. */
  #each(
    packages: readonly WalkedPackage[],
    work: (entry: WalkedPackage) => Promise<PrunedPackage>,
  ): AsyncGenerator<{ readonly entry: WalkedPackage; readonly result: PrunedPackage }> {
    const { signal } = this.#options;
    const { kind } = this.#place.files;
    return inParallel(packages, workedAtOnce[kind], async (entry) => {
      signal?.throwIfAborted();
      try {
        return { entry, result: await work(entry) };
      } catch (error) {
        if (kind === "s3") {
          throw error;
        }
        const reason = error instanceof Error ? error.message : String(error);
        return { entry, result: { ...resultOf(entry, "failed"), reason } };
      }
    });
  }
}

async function* packagesIn(root: string, start: string, disk: ReadDisk): Found["entries"] {
  for await (const entry of walkPackages(root, start, disk)) {
    if (entry.kind === "package" || entry.kind === "archive") {
      yield entry;
    }
  }
}

/** Why a package has to be kept: a hold, or a file that its manifest does not list. */
async function reasonToKeep(entry: WalkedPackage, disk: ReadDisk): Promise<string | null> {
  let stray: string | null = null;
  for await (const name of straysIn(entry, disk)) {
    if (holdName.test(name)) {
      return "hold";
    }
    stray ??= name;
  }
  return stray === null ? null : `it contains ${stray}, which its manifest does not list`;
}

function keptFor(entry: WalkedPackage, reason: string): PrunedPackage {
  return { ...resultOf(entry, reason === "hold" ? "held" : "kept"), reason };
}

function resultOf(entry: WalkedPackage, what: PrunedPackage["what"]): PrunedPackage {
  return { what, path: entry.path, bytes: bytesOf(entry) };
}

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
