import { tmpdir } from "node:os";
import type { Row, SqlValue, Statement } from "../../database/database.ts";
import type { ToolDatabase, ToolThread } from "../../database/tool-database.ts";

/** What a walk has found of a package, and its expected row in an index. */
export interface SeenPackage {
  readonly path: string;
  /** The SHA-256 of its manifest. */
  readonly sha256: string;
  /** The store that archived it; null for packages of version 0.1. */
  readonly store: string | null;
  readonly job: string;
  readonly archived: string;
  readonly previousPath: string | null;
  readonly previousSha256: string | null;
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
    previous_path TEXT,
    previous_sha256 TEXT,
    missing TEXT,
    supplements TEXT,
    supplements_path TEXT,
    accepted TEXT NOT NULL,
    measurement_key TEXT,
    transaction_id TEXT,
    legacy_id TEXT,
    row_sha256 TEXT NOT NULL,
    is_listed INTEGER NOT NULL DEFAULT 0
  )`,
  "CREATE TABLE pruned (sha256 TEXT PRIMARY KEY, path TEXT NOT NULL) WITHOUT ROWID",
  "CREATE INDEX pruned_path ON pruned (path)",
  "CREATE TABLE kept_copies (sha256 TEXT PRIMARY KEY) WITHOUT ROWID",
];

/** Created after all packages were added, which takes less time. */
const indexes = [
  "CREATE INDEX seen_sha256 ON seen (sha256)",
  "CREATE INDEX seen_previous ON seen (previous_sha256, store, archived, path)",
  "CREATE INDEX seen_supplements ON seen (supplements) WHERE supplements IS NOT NULL",
  "CREATE INDEX seen_store ON seen (store, archived, path)",
];

const atOnce = 500;

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
    await database.transaction(["PRAGMA cache_size = -16000", ...schema].map((sql) => ({ sql })));
    return new SeenPackages(database);
  }

  async add(one: SeenPackage): Promise<void> {
    const row = {
      path: one.path,
      sha256: one.sha256,
      store: one.store,
      job: one.job,
      archived: one.archived,
      previous_path: one.previousPath,
      previous_sha256: one.previousSha256,
      missing: one.missing,
      supplements: one.supplementsSha256,
      supplements_path: one.supplementsPath,
      accepted: one.accepted,
      measurement_key: one.measurementKey,
      transaction_id: one.transactionId,
      legacy_id: one.legacyId,
      row_sha256: one.rowSha256,
    };
    const columns = Object.keys(row);
    await this.#add({
      sql: `INSERT OR IGNORE INTO seen (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
      values: Object.values(row),
    });
  }

  async addPruned(sha256: string, path: string): Promise<void> {
    await this.#add({ sql: "INSERT OR REPLACE INTO pruned VALUES (?, ?)", values: [sha256, path] });
    await this.#add({ sql: "DELETE FROM kept_copies WHERE sha256 = ?", values: [sha256] });
  }

  async removePruned(sha256: string): Promise<void> {
    await this.#add({ sql: "DELETE FROM pruned WHERE sha256 = ?", values: [sha256] });
  }

  /** Notes that it was deleted in the folder that was copied, and is kept in the copy. */
  async addKeptCopy(sha256: string): Promise<void> {
    await this.#add({ sql: "INSERT OR IGNORE INTO kept_copies VALUES (?)", values: [sha256] });
  }

  /** Notes that an index lists the package. */
  async setListed(path: string): Promise<void> {
    await this.#add({ sql: "UPDATE seen SET is_listed = 1 WHERE path = ?", values: [path] });
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

  async isPruned(sha256: string): Promise<boolean> {
    return (await this.select("SELECT 1 FROM pruned WHERE sha256 = ?", [sha256])).length > 0;
  }

  async isKeptCopy(sha256: string): Promise<boolean> {
    return (await this.select("SELECT 1 FROM kept_copies WHERE sha256 = ?", [sha256])).length > 0;
  }

  async isPrunedPath(path: string): Promise<boolean> {
    return (await this.select("SELECT 1 FROM pruned WHERE path = ? LIMIT 1", [path])).length > 0;
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
