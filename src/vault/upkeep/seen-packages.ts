import { tmpdir } from "node:os";
import { posix } from "node:path";
import { type Row, type SqlValue, type Statement, marksFor } from "../../database/database.ts";
import { identity } from "../../database/inbox.ts";
import type { ToolDatabase, ToolThread } from "../../database/tool-database.ts";
import type { VerifiedPackage } from "../../database/verification-table.ts";
import type { Finding, PackageFinding } from "../../model/archive-reports.ts";
import { sha256Of } from "../../model/sha256.ts";
import { type ReadDisk, manifestFileName } from "../archive-disk.ts";
import type { IndexReader } from "../index-reader.ts";
import { replaySchema } from "../log/replay.ts";
import type { FoundManifest } from "../packages/package-files.ts";
import { asArchived, rowOfPackage, wordsOfNumbers } from "../packages/package-index.ts";
import { keysOfManifest, measurementOf } from "../packages/package-keys.ts";
import { type WalkedPackage, loadManifestWithin, sayUnreadable } from "../walk.ts";

/** What a walk has found of a package, and its expected row in an index. */
export interface SeenPackage {
  readonly path: string;
  /** The SHA-256 of its manifest. */
  readonly sha256: string;
  /** The store that archived it; null for packages of version 0.1. */
  readonly store: string | null;
  readonly job: string;
  readonly archived: string;
  /** What is missing from it; null if it is complete. */
  readonly missing: string | null;
  /** The manifest of the package that it supplements. */
  readonly supplementsSha256: string | null;
  readonly supplementsPath: string | null;
  /** When its job was accepted. */
  readonly accepted: string;
  /** Of its measurement, and the transaction's ids, in lower case; null where it is of no measurement with a transaction. */
  readonly measurementKey: string | null;
  readonly transactionId: string | null;
  readonly legacyId: string | null;
  /** The SHA-256 of its expected row. */
  readonly rowSha256: string;
  /** Whether a file in it says that it is on hold. */
  readonly hasHold: boolean;
}

/** The part that is compared with a row of an index. */
export type SeenRow = Pick<SeenPackage, "rowSha256" | "sha256">;

const schema = [
  `CREATE TABLE seen (
    seen_order INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    sha256 TEXT NOT NULL,
    store TEXT,
    job TEXT NOT NULL,
    archived TEXT NOT NULL,
    missing TEXT,
    supplements TEXT,
    supplements_path TEXT,
    accepted TEXT NOT NULL,
    measurement_key TEXT,
    transaction_id TEXT,
    legacy_id TEXT,
    row_sha256 TEXT NOT NULL,
    has_hold INTEGER NOT NULL,
    is_listed INTEGER NOT NULL DEFAULT 0,
    listed_in TEXT,
    listed_order INTEGER
  )`,
  "CREATE TABLE found (path TEXT PRIMARY KEY, kind TEXT NOT NULL) WITHOUT ROWID",
];

/** Created after all packages were added, which takes less time. */
const indexes = [
  "CREATE INDEX seen_sha256 ON seen (sha256)",
  "CREATE INDEX seen_supplements ON seen (supplements) WHERE supplements IS NOT NULL",
  "CREATE INDEX seen_store ON seen (store, archived, path)",
];

const atOnce = 500;

const verified = `SELECT seen_order, listed_order, (SELECT kind FROM found WHERE found.path = seen.path) AS kind FROM seen
  WHERE seen_order > ? AND listed_in = ? ORDER BY seen_order LIMIT ?`;
const foundElsewhere = `SELECT path, kind FROM found
  WHERE path > ? AND NOT EXISTS (SELECT 1 FROM seen WHERE seen.path = found.path AND listed_in = ?) ORDER BY path LIMIT ?`;

/** Where an index lists a package: in which database, and `indexed_order` of the row. */
interface ListedIn {
  readonly file: string;
  readonly order: number;
}

/**
 * The packages that a verification has seen, and the hashes of deleted ones, in a temporary database: a million of them
 * take no more memory than one.
 */
export class SeenPackages {
  readonly #database: ToolDatabase;
  #added: Statement[] = [];

  private constructor(database: ToolDatabase) {
    this.#database = database;
  }

  static async open(thread: ToolThread): Promise<SeenPackages> {
    const database = await thread.open({ as: "temporary", file: tmpdir() });
    await database.transaction(
      ["PRAGMA cache_size = -16000", ...schema, ...replaySchema].map((sql) => ({ sql })),
    );
    return new SeenPackages(database);
  }

  async add(one: SeenPackage): Promise<void> {
    const row = {
      path: one.path,
      sha256: one.sha256,
      store: one.store,
      job: one.job,
      archived: one.archived,
      missing: one.missing,
      supplements: one.supplementsSha256,
      supplements_path: one.supplementsPath,
      accepted: one.accepted,
      measurement_key: one.measurementKey,
      transaction_id: one.transactionId,
      legacy_id: one.legacyId,
      row_sha256: one.rowSha256,
      has_hold: Number(one.hasHold),
    };
    const columns = Object.keys(row);
    await this.#add({
      sql: `INSERT OR IGNORE INTO seen (${columns.join(", ")}) VALUES (${marksFor(columns)})`,
      values: Object.values(row),
    });
  }

  /** Notes that an index lists the package, in which database, and with which number. */
  async setListed(path: string, { file, order }: ListedIn): Promise<void> {
    await this.#add({
      sql: "UPDATE seen SET is_listed = 1, listed_in = ?, listed_order = ? WHERE path = ?",
      values: [file, order, path],
    });
  }

  /** Notes what was found of the package with this path, or of the file with it in a package. */
  async addFound({ path, kind }: Finding): Promise<void> {
    for (const one of [path, posix.dirname(path)]) {
      await this.#add({ sql: "INSERT OR IGNORE INTO found VALUES (?, ?)", values: [one, kind] });
    }
  }

  /** The packages of a database that were seen, with what was found of each, some at a time. */
  async *verified(file: string): AsyncGenerator<readonly VerifiedPackage[]> {
    for (let after = 0; ;) {
      const rows = await this.select(verified, [after, file, atOnce]);
      yield rows.map(({ listed_order: order, kind }) => ({
        order: Number(order),
        finding: typeof kind === "string" ? kind : null,
      }));
      if (rows.length < atOnce) {
        return;
      }
      after = Number(rows.at(-1)?.["seen_order"]);
    }
  }

  /** What was found where no package of the database was seen, some at a time. */
  async *foundElsewhere(file: string): AsyncGenerator<readonly (readonly [path: string, kind: string])[]> {
    for (let after = ""; ;) {
      const rows = await this.select(foundElsewhere, [after, file, atOnce]);
      yield rows.map(({ path, kind }) => [String(path), String(kind)]);
      if (rows.length < atOnce) {
        return;
      }
      after = String(rows.at(-1)?.["path"]);
    }
  }

  /** Returns the packages at these paths. */
  async at(paths: readonly string[]): Promise<Map<string, SeenRow>> {
    const rows = await this.select(
      "SELECT path, sha256, row_sha256 FROM seen WHERE path IN (SELECT value FROM json_each(?))",
      [JSON.stringify(paths)],
    );
    return new Map(
      rows.map((row) => [
        String(row["path"]),
        { sha256: String(row["sha256"]), rowSha256: String(row["row_sha256"]) },
      ]),
    );
  }

  /** The numbers that logs say were added to these packages, in their order; by the IDs of the packages. */
  async numbersOf(ids: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
    const rows = await this.select(
      "SELECT package_id, number FROM named WHERE package_id IN (SELECT value FROM json_each(?)) ORDER BY store, n",
      [JSON.stringify(ids)],
    );
    const numbers = new Map<string, string[]>();
    for (const row of rows) {
      const id = String(row["package_id"]);
      numbers.set(id, [...(numbers.get(id) ?? []), String(row["number"])]);
    }
    return numbers;
  }

  /** Whether a log names this package and does not say that it was deleted: that it is missing is said of the log. */
  async isLogged(sha256: string, path: string): Promise<boolean> {
    const sql = "SELECT 1 FROM logged WHERE sha256 = ? AND path = ? AND pruned_n IS NULL";
    return (await this.select(sql, [sha256, path])).length > 0;
  }

  /** Creates the indexes; to be called when all packages are added, before they are compared. */
  async index(): Promise<void> {
    await this.write();
    await this.#database.transaction(indexes.map((sql) => ({ sql })));
  }

  async select(sql: string, values: readonly SqlValue[] = []): Promise<readonly Row[]> {
    await this.write();
    return this.#database.select(sql, values);
  }

  /**
   * Reads the rows of a statement, some at a time. Its values are the last `seen_order` before them, its own values,
   * and the maximum number of rows.
   */
  async *pages(sql: string, values: readonly SqlValue[] = []): AsyncGenerator<Row> {
    for (let after = 0; ;) {
      const rows = await this.select(sql, [after, ...values, atOnce]);
      yield* rows;
      if (rows.length < atOnce) {
        return;
      }
      after = Number(rows.at(-1)?.["seen_order"]);
    }
  }

  async transaction(statements: readonly Statement[]): Promise<readonly (readonly Row[])[]> {
    await this.write();
    return await this.#database.transaction(statements);
  }

  async close(): Promise<void> {
    await this.#database.close();
  }

  async write(): Promise<void> {
    if (this.#added.length > 0) {
      const added = this.#added;
      this.#added = [];
      await this.#database.transaction(added);
    }
  }

  async #add(statement: Statement): Promise<void> {
    this.#added.push(statement);
    if (this.#added.length >= atOnce) {
      await this.write();
    }
  }
}

/** What all checks of one verification use. */
export interface CheckParts {
  /** The folder of packages, without links. */
  readonly root: string;
  readonly disk: ReadDisk;
  readonly seen: SeenPackages;
  /** Undefined if there is no log of deleted packages. */
  readonly pruned: PrunedPackages | undefined;
  /** The folder of the extracted export that is checked; undefined if it is none. */
  readonly exported: string | undefined;
}

/** What a verification notes of a package. */
export function seenOf(entry: WalkedPackage, hasHold: boolean): SeenPackage {
  const { path, sha256, manifest } = entry;
  const { supplements = null } = manifest;
  const measurement = measurementOf(manifest);
  const legacyId = measurement?.legacyId ?? null;
  return {
    path,
    sha256,
    store: manifest.store ?? null,
    job: manifest.job,
    archived: manifest.times.archived,
    missing: manifest.complete ? null : manifest.missing.join(", "),
    supplementsSha256: supplements?.sha256 ?? null,
    supplementsPath: supplements?.path ?? null,
    accepted: manifest.times.accepted,
    measurementKey: measurement?.key ?? null,
    transactionId: measurement === null ? null : identity(measurement.transactionId),
    legacyId: legacyId === null ? null : identity(legacyId),
    rowSha256: hashOfRow(expectedRow(path, entry)),
    hasHold,
  };
}

/** The packages that the logs say were deleted. */
export class PrunedPackages {
  readonly #seen: SeenPackages;

  constructor(seen: SeenPackages) {
    this.#seen = seen;
  }

  /** Whether the package with this SHA-256 of its manifest was deleted. */
  async has(sha256: string): Promise<boolean> {
    return await this.#isPruned("sha256", sha256);
  }

  /** Whether a package at this path was deleted. */
  async hasPath(path: string): Promise<boolean> {
    return await this.#isPruned("path", path);
  }

  async #isPruned(column: "path" | "sha256", value: string): Promise<boolean> {
    const sql = `SELECT max(pruned_n IS NULL) AS is_kept FROM logged WHERE ${column} = ?`;
    const [row] = await this.#seen.select(sql, [value]);
    return row?.["is_kept"] === 0;
  }
}

/** The row that the index must have for a package. */
function expectedRow(path: string, { manifest, sha256 }: FoundManifest): Row {
  return rowOfPackage(keysOfManifest(manifest), { path, sha256 }, manifest);
}

/** The hash by which two rows are compared without being kept. */
function hashOfRow(row: Row): string {
  const names = Object.keys(row).filter((name) => name !== "indexed_order");
  return sha256Of(JSON.stringify(names.sort().map((name) => [name, row[name]])));
}

/**
 * Compares an index with the packages that were seen: each row has to agree with its package's manifest, and each
 * listed package has to exist, or to be in the log of deleted ones. Listed packages are marked.
 */
export class IndexCheck {
  readonly #index: IndexReader;
  readonly #parts: CheckParts;

  constructor(index: IndexReader, parts: CheckParts) {
    this.#index = index;
    this.#parts = parts;
  }

  async *run(below: string): AsyncGenerator<Finding> {
    const { seen } = this.#parts;
    for await (const rows of this.#index.rows(below)) {
      const there = await seen.at(rows.map((row) => String(row["location"])));
      const numbers = await seen.numbersOf(rows.map((row) => String(row["package_id"])));
      for (const row of rows) {
        yield* this.#check(row, there.get(String(row["location"])));
        yield* this.#compareNumbers(row, numbers.get(String(row["package_id"])) ?? []);
      }
    }
  }

  /** `numbers`: those that the log says were added to the package. */
  async *#compareNumbers(row: Row, numbers: readonly string[]): AsyncGenerator<PackageFinding> {
    if (compareWords(row, numbers) === undefined) {
      return;
    }
    // More may have been added since the log was read: then it is in the log that the database has.
    const id = String(row["package_id"]);
    const now = (await this.#index.numbersOf([id])).get(id);
    const isMore = now !== undefined && numbers.every((one) => now.includes(one));
    const finding = compareWords(row, isMore ? now : numbers);
    if (finding !== undefined) {
      yield finding;
    }
  }

  async *#check(row: Row, there: SeenRow | undefined): AsyncGenerator<Finding> {
    const { seen } = this.#parts;
    const [path, sha256] = [String(row["location"]), String(row["manifest_sha256"])];
    const listed = { file: this.#index.file, order: Number(row["indexed_order"]) };
    if (there?.rowSha256 === hashOfRow(asArchived(row))) {
      await seen.setListed(path, listed);
    } else if (there?.sha256 === sha256) {
      await seen.setListed(path, listed);
      yield* this.#compare(row, await this.#load(path));
    } else {
      yield* this.#seek(row, path, sha256, there?.sha256);
    }
  }

  /** Reports a row whose package was not seen at its path. */
  async *#seek(row: Row, path: string, sha256: string, other: string | undefined): AsyncGenerator<Finding> {
    const { seen, pruned } = this.#parts;
    const listed = { file: this.#index.file, order: Number(row["indexed_order"]) };
    if ((await pruned?.has(sha256)) === true) {
      return;
    }
    const [elsewhere] = await seen.select("SELECT path FROM seen WHERE sha256 = ? LIMIT 1", [sha256]);
    if (elsewhere !== undefined && (await seen.isLogged(sha256, path))) {
      await seen.setListed(String(elsewhere["path"]), listed);
      return;
    }
    if (elsewhere !== undefined) {
      const problem = `the index lists this package in ${path}: the package was moved, or the row was changed`;
      await seen.setListed(String(elsewhere["path"]), listed);
      yield { kind: "index", path: String(elsewhere["path"]), problem };
      return;
    }
    if (other !== undefined) {
      await seen.setListed(path, listed);
      yield* this.#explainOther(path, sha256);
      return;
    }
    // It may be outside the checked folder, or have got its name after the walk passed.
    const found = await this.#load(path);
    if (typeof found === "object" && found.sha256 === sha256) {
      yield* this.#compare(row, found);
    } else if (typeof found === "string" && found !== "none" && found !== "damaged") {
      yield { kind: "unreadable", path, problem: found };
    } else if (found !== "damaged" && !(await seen.isLogged(sha256, path))) {
      // The walk has reported the damaged manifest.
      const problem = "the index lists this package, but it is missing and was not pruned";
      yield { kind: "missing-package", path, problem };
    }
  }

  /** The log says which of the two has changed, and it has said so of the manifest. */
  async *#explainOther(path: string, sha256: string): AsyncGenerator<Finding> {
    if (await this.#parts.seen.isLogged(sha256, path)) {
      return;
    }
    const [known] = await this.#parts.seen.select("SELECT 1 FROM logged WHERE path = ? LIMIT 1", [path]);
    yield known === undefined
      ? {
          kind: "changed",
          path: `${path}/${manifestFileName}`,
          problem:
            "the manifest differs from the one that the index lists: it is not the one that was archived",
        }
      : {
          kind: "index",
          path,
          problem: "the index lists another manifest for this package than the log: the row was changed",
        };
  }

  *#compare(row: Row, found: FoundManifest | string): Generator<Finding> {
    // Otherwise it was deleted or damaged after the walk passed.
    if (typeof found === "object") {
      yield* compareRow(row, found);
    }
  }

  async #load(path: string): Promise<FoundManifest | string> {
    const { root, disk } = this.#parts;
    return loadManifestWithin(root, `${path}/${manifestFileName}`, disk).catch(sayUnreadable);
  }
}

/** What a row of the index has that the manifest of its package does not say. */
export function* compareRow(row: Row, found: FoundManifest): Generator<PackageFinding> {
  const path = String(row["location"]);
  const archived = asArchived(row);
  for (const [column, expected] of Object.entries(expectedRow(path, found))) {
    const listed = archived[column] ?? null;
    if (listed !== expected) {
      const problem = `in the column ${column}, the index has ${say(listed)}, but the manifest has ${say(expected)}`;
      yield { kind: "index", path, problem };
    }
  }
}

/** What a row of the index has otherwise of the numbers that the log says were added to its package. */
export function compareWords(row: Row, numbers: readonly string[]): PackageFinding | undefined {
  const added = row["added_words"] ?? "";
  const expected = wordsOfNumbers(row, numbers);
  if (added === expected) {
    return undefined;
  }
  const problem = `in the column added_words, the index has ${say(added)}, but the log has ${say(expected)}`;
  return { kind: "index", path: String(row["location"]), problem };
}

function say(value: SqlValue): string {
  return typeof value === "string" ? `“${value}”` : String(value);
}
