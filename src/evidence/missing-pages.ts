import type { MissingEvidence } from "../model/shapes.ts";
import type { Database, Row, SqlValue, Statement } from "../database/database.ts";
import { findPruned } from "../vault/maintenance/prune-log.ts";
import type { EvidenceSource } from "./packages.ts";
import type { Period } from "./period.ts";

/** What is missing, and by which ids it is the same as something else that is: in small letters, none if that is not known. */
export interface Found {
  readonly evidence: MissingEvidence;
  readonly ids: readonly string[];
}

/** A list of what has no complete package, the newest first. */
export interface MissingList {
  /** The values: from when and until when, how many rows, and how many to skip before them. */
  readonly select: (values: readonly SqlValue[]) => Statement;
  /** Returns null if the row turns out to be of nothing that is missing. */
  readonly read: (row: Row) => Found | null;
  /** The table of which each row is looked at, the column that is compared with the period, and which rows; not given: all. */
  readonly of: string;
  readonly by: string;
  readonly where?: string;
}

/** What a row says, and the SHA-256 of the manifest of its package, with the time when it was archived. */
interface Listed {
  readonly found: Found;
  readonly manifest: string | null;
  readonly archivedAt: string | undefined;
}

/** How many rows are read at once, if most of them are of deleted packages. */
const mostAtOnce = 20_000;

/**
 * How many rows one statement looks at; a year may have millions, of which hardly any is missing. An embedded database does nothing
 * else meanwhile.
 */
const mostLookedAt = 5_000;

/** Reads a list up to the limit, without what was deleted because of its age, of which there may be far more. */
export async function firstMissing(
  { database, files }: Pick<EvidenceSource, "database" | "files">,
  list: MissingList,
  { from, to }: Period,
  limit: number,
): Promise<readonly Found[]> {
  const missing: Found[] = [];
  let [before, skipped, size] = [to, 0, limit];
  for (;;) {
    const rows = await readPage(database, list, { from, to: before }, { size, skipped });
    const listed = rows.flatMap((row): Listed[] => {
      const found = list.read(row);
      const [manifest, archivedAt] = [row["manifest_sha256"], row["archived_at"]];
      return found === null
        ? []
        : [
            {
              found,
              manifest: typeof manifest === "string" ? manifest : null,
              archivedAt: typeof archivedAt === "string" ? archivedAt : undefined,
            },
          ];
    });
    missing.push(...(await withoutPruned(files, listed)));
    const last = rows.at(-1)?.[list.by];
    if (typeof last !== "string" || rows.length < size || missing.length >= limit) {
      return missing;
    }
    // Further rows may have the same time as the last one.
    const next = new Date(Date.parse(last) + 1).toISOString();
    const sameTime = rows.filter((row) => row[list.by] === last).length;
    skipped = sameTime + (next === before ? skipped : 0);
    before = next;
    size = Math.max(limit, Math.min(size * 4, mostAtOnce));
  }
}

/** Reads the newest rows of a period, slice by slice until there are as many as wanted. */
async function readPage(
  database: Pick<Database, "transaction">,
  list: MissingList,
  { from, to }: Period,
  { size, skipped }: { readonly size: number; readonly skipped: number },
): Promise<readonly Row[]> {
  const page: Row[] = [];
  for (let end = to; ;) {
    const start = await startOfSlice(database, list, { from, to: end });
    // What is skipped has the time of the last row before, so it is in one slice.
    const skip = end === to ? skipped : 0;
    const [rows = []] = await database.transaction([list.select([start, end, size - page.length, skip])]);
    page.push(...rows);
    if (start === from || page.length >= size) {
      return page;
    }
    end = start;
  }
}

/** Returns from when on there are no more rows than one statement looks at, apart from those of the same time. */
async function startOfSlice(
  database: Pick<Database, "transaction">,
  { of, by, where = "TRUE" }: MissingList,
  { from, to }: Period,
): Promise<string> {
  const [[first] = []] = await database.transaction([
    {
      sql: `SELECT ${by} AS begun FROM ${of} WHERE ${by} >= ? AND ${by} < ? AND ${where}
        ORDER BY ${by} DESC LIMIT 1 OFFSET ?`,
      values: [from, to, mostLookedAt - 1],
    },
  ]);
  return first === undefined ? from : String(first["begun"]);
}

/**
 * Leaves out what the log of deleted packages names: a package, and what had no package any more when it was written. What has come
 * since then has to be archived.
 */
async function withoutPruned(files: EvidenceSource["files"], listed: readonly Listed[]): Promise<Found[]> {
  const ended = listed.filter(({ found }) => found.evidence.reason !== "open");
  const withPackage = ended.filter(({ manifest }) => manifest !== null);
  const manifests = new Set(withPackage.flatMap(({ manifest }) => manifest ?? []));
  // A package is known by its manifest: the log is not read again for its transaction.
  const others = ended.filter(({ manifest }) => manifest === null).map(({ found }) => found.evidence);
  const ids = new Set(others.flatMap(({ transactionId }) => transactionId?.toLowerCase() ?? []));
  const archived = withPackage.map(({ archivedAt }) => archivedAt ?? "");
  const packages = await findPruned(files, "sha256", manifests, earliest(archived));
  const transactions = await findPruned(files, "transactionId", ids, earliest(others.map(({ at }) => at)));
  const isPruned = ({ found, manifest }: Listed): boolean => {
    if (manifest !== null) {
      return packages.has(manifest);
    }
    const { transactionId, at } = found.evidence;
    const line = transactions.get(transactionId?.toLowerCase() ?? "");
    return line !== undefined && line.at >= at;
  };
  return listed
    .filter((one) => one.found.evidence.reason === "open" || !isPruned(one))
    .map(({ found }) => found);
}

/** Undefined if one of the times is not known. */
function earliest(times: readonly string[]): string | undefined {
  const [first = ""] = times.toSorted();
  return first === "" ? undefined : first;
}
