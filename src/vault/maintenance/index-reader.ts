import type { Finding } from "../../model/archive-reports.ts";
import type { Row, SqlValue } from "../../database/database.ts";
import { sha256Of } from "../../model/sha256.ts";
import type { ToolThread } from "../../database/tool-database.ts";
import { openIndexSource, type CheckDepth, type IndexSource } from "./index-source.ts";

/** How many rows are read at once. */
const pageRows = 1_000;

/** Tables whose rows have the SHA-256 of their text beside it. */
const checkedRows = [
  {
    name: "webhook record",
    first: 0,
    sql: `SELECT record_id AS id, record AS content, record_sha256 AS sha256
      FROM records WHERE record_id > ? ORDER BY record_id LIMIT ?`,
  },
  {
    name: "job",
    first: "",
    sql: `SELECT job_id AS id, intent AS content, intent_sha256 AS sha256
      FROM jobs WHERE job_id > ? ORDER BY job_id LIMIT ?`,
  },
];

/**
 * The database of a store, opened for reading, also while Node-RED has it open. Nothing is written, in it or beside it.
 */
export class IndexReader {
  /** The file, or the address. */
  readonly file: string;
  /** The chains whose packages it lists: that of the store, or one for each worker. */
  readonly chains: readonly string[];
  /** The folder of packages that the store last had; null if none is known. */
  readonly folder: string | null;
  readonly #source: IndexSource;

  private constructor(file: string, source: IndexSource, store: Row) {
    this.file = file;
    this.#source = source;
    this.chains = [String(store["store_id"]), ...source.workers];
    this.folder = typeof store["folder"] === "string" ? store["folder"] : null;
  }

  /**
   * Rejects with ERR_STORE: the database is damaged, of another application, newer, or locked, or the disk reports an
   * error.
   */
  static async open(given: string, thread: ToolThread): Promise<IndexReader> {
    const source = await openIndexSource(given, thread);
    return new IndexReader(given, source, source.store);
  }

  /**
   * Reads and checks a whole file, with its log; a server checks its files itself. Rejects with ERR_STORE where it is
   * damaged.
   */
  async check(how: CheckDepth): Promise<void> {
    await this.#source.check(how);
  }

  /** Counts the packages that the index lists below a folder, and their bytes. */
  async count(below: string): Promise<{ packages: number; bytes: number }> {
    const [row = {}] = await this.#select(
      `SELECT count(*) AS packages, coalesce(sum(bytes), 0) AS bytes FROM packages
        WHERE substr(location, 1, ?) = ?`,
      [below.length, below],
    );
    return { packages: Number(row["packages"]), bytes: Number(row["bytes"]) };
  }

  /** Reads the rows of the packages below a folder, some at a time. */
  async *rows(below: string): AsyncGenerator<readonly Row[]> {
    for (let after = 0; ;) {
      const rows = await this.#select(
        `SELECT * FROM packages WHERE indexed_order > ? AND substr(location, 1, ?) = ?
          ORDER BY indexed_order LIMIT ?`,
        [after, below.length, below, pageRows],
      );
      yield rows;
      if (rows.length < pageRows) {
        return;
      }
      after = Number(rows.at(-1)?.["indexed_order"]);
    }
  }

  /**
   * Whether the index lists a package, or contains a job that is about to place it there, or whose process was killed
   * then; or whether it is where a package is being uploaded, or an upload was interrupted.
   */
  async isKnown({ job, sha256, path }: { job: string; sha256: string; path: string }): Promise<boolean> {
    const found = await this.#select(
      `SELECT 1 FROM packages WHERE package_id = ? AND manifest_sha256 = ?
        UNION ALL SELECT 1 FROM jobs WHERE job_id = ? AND state = 'sealing'
        ${this.#source.hasUploads ? "UNION ALL SELECT 1 FROM uploads WHERE location = ?" : ""}`,
      [job, sha256, job, ...(this.#source.hasUploads ? [path] : [])],
    );
    return found.length > 0;
  }

  /** The rows of measurements with these keys, and of those that were given one of these transactions. */
  async measurements(keys: readonly string[], transactionIds: readonly string[]): Promise<readonly Row[]> {
    const marks = (values: readonly string[]): string => values.map(() => "?").join(", ");
    const ids = marks(transactionIds);
    return this.#select(
      `SELECT measurement_key, transaction_id, legacy_id FROM measurements
        WHERE measurement_key IN (${marks(keys)}) OR transaction_id IN (${ids}) OR legacy_id IN (${ids})`,
      [...keys, ...transactionIds, ...transactionIds],
    );
  }

  /** Some of the transactions that were given to more than one measurement. */
  async givenTwice(): Promise<readonly { transactionId: string; count: number }[]> {
    const rows = await this.#select(
      `SELECT transaction_id, count(*) AS count FROM measurements WHERE transaction_id IS NOT NULL
        GROUP BY transaction_id HAVING count(*) > 1 LIMIT ?`,
      [pageRows],
    );
    return rows.map((row) => ({ transactionId: String(row["transaction_id"]), count: Number(row["count"]) }));
  }

  /** Rows that are not what was written, except those of packages. */
  async *damagedRows(): AsyncGenerator<Finding> {
    for (const { name, first, sql } of checkedRows) {
      for (let after: SqlValue = first; ;) {
        const rows: readonly Row[] = await this.#select(sql, [after, pageRows]);
        for (const { id, content, sha256 } of rows) {
          if (sha256Of(String(content)) !== sha256) {
            const problem = `the row of the ${name} ${String(id)} is not as it was stored: it was changed`;
            yield { kind: "database", path: this.file, problem };
          }
        }
        if (rows.length < pageRows) {
          break;
        }
        after = rows.at(-1)?.["id"] ?? first;
      }
    }
  }

  async close(): Promise<void> {
    await this.#source.database.close();
  }

  async #select(sql: string, values: readonly SqlValue[]): Promise<readonly Row[]> {
    const [rows = []] = await this.#source.database.transaction([{ sql, values }]);
    return rows;
  }
}
