import { stat } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import type { Finding } from "../../model/archive-reports.ts";
import type { Row } from "../../store/database.ts";
import { migrations } from "../../store/schema.ts";
import { failureError } from "../../store/sqlite-failures.ts";
import { readLog } from "../../store/sqlite-log.ts";
import { ToolDatabase } from "../../store/tool-database.ts";
import { sha256Of } from "../../model/sha256.ts";

/** How many rows are read at once. */
const pageRows = 1_000;

/** Tables whose rows have the SHA-256 of their text beside it. */
const checkedRows = [
  {
    name: "webhook record",
    sql: `SELECT record_id AS row_order, record_id AS id, record AS text, record_sha256 AS sha256
      FROM records WHERE record_id > ? ORDER BY record_id LIMIT ?`,
  },
  {
    name: "job",
    sql: `SELECT rowid AS row_order, job_id AS id, intent AS text, intent_sha256 AS sha256
      FROM jobs WHERE rowid > ? ORDER BY rowid LIMIT ?`,
  },
];

/**
 * The database of a store, opened for reading, also while Node-RED has it open. Nothing is written, in it or beside it.
 */
export class IndexReader {
  readonly file: string;
  /** The store's id, made with its database. */
  readonly storeId: string;
  /** The folder of packages that the store last had; null if none is known. */
  readonly folder: string | null;
  readonly #database: ToolDatabase;

  private constructor(file: string, database: ToolDatabase, store: Row) {
    this.file = file;
    this.#database = database;
    this.storeId = String(store["store_id"]);
    this.folder = typeof store["folder"] === "string" ? store["folder"] : null;
  }

  /**
   * Rejects with ERR_STORE: the database is damaged, of another application, newer, or locked, or the disk reports an
   * error.
   */
  static async open(file: string): Promise<IndexReader> {
    const database = await ToolDatabase.open({ as: "read", file });
    try {
      const [version = {}] = await database.select("PRAGMA user_version");
      if (Number(version["user_version"]) > migrations.length) {
        throw failureError(file, { reason: "newer-schema" });
      }
      const tables = await database.select(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name IN ('store', 'packages', 'jobs', 'records')",
      );
      const [store] = tables.length === 4 ? await database.select("SELECT * FROM store") : [];
      if (store === undefined) {
        // A store's tables may be in a log that SQLite cannot read any more.
        await checkFile(file, database);
        throw failureError(file, { reason: "foreign" });
      }
      return new IndexReader(file, database, store);
    } catch (error) {
      await database.close();
      throw error;
    }
  }

  /** Reads and checks the whole file, with its log. Rejects with ERR_STORE where it is damaged. */
  async check(): Promise<void> {
    await checkFile(this.file, this.#database);
  }

  /** Counts the packages that the index lists below a folder, and their bytes. */
  async count(below: string): Promise<{ packages: number; bytes: number }> {
    const [row = {}] = await this.#database.select(
      "SELECT count(*) AS packages, total(bytes) AS bytes FROM packages WHERE substr(location, 1, ?) = ?",
      [below.length, below],
    );
    return { packages: Number(row["packages"]), bytes: Number(row["bytes"]) };
  }

  /** Reads the rows of the packages below a folder, some at a time. */
  async *rows(below: string): AsyncGenerator<readonly Row[]> {
    for (let after = 0; ;) {
      const rows = await this.#database.select(
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
   * then.
   */
  async isKnown(job: string, sha256: string): Promise<boolean> {
    const found = await this.#database.select(
      `SELECT 1 FROM packages WHERE package_id = ? AND manifest_sha256 = ?
        UNION ALL SELECT 1 FROM jobs WHERE job_id = ? AND state = 'sealing'`,
      [job, sha256, job],
    );
    return found.length > 0;
  }

  /** The rows of measurements with these keys, and of those that were given one of these transactions. */
  async measurements(keys: readonly string[], transactionIds: readonly string[]): Promise<readonly Row[]> {
    const ids = JSON.stringify(transactionIds);
    return this.#database.select(
      `SELECT measurement_key, transaction_id, legacy_id FROM measurements
        WHERE measurement_key IN (SELECT value FROM json_each(?))
          OR transaction_id IN (SELECT value FROM json_each(?)) OR legacy_id IN (SELECT value FROM json_each(?))`,
      [JSON.stringify(keys), ids, ids],
    );
  }

  /** Some of the transactions that were given to more than one measurement. */
  async givenTwice(): Promise<readonly { transactionId: string; count: number }[]> {
    const rows = await this.#database.select(
      `SELECT transaction_id, count(*) AS count FROM measurements WHERE transaction_id IS NOT NULL
        GROUP BY transaction_id HAVING count(*) > 1 LIMIT ?`,
      [pageRows],
    );
    return rows.map((row) => ({ transactionId: String(row["transaction_id"]), count: Number(row["count"]) }));
  }

  /** Rows that are not what was written, except those of packages. */
  async *damagedRows(): AsyncGenerator<Finding> {
    for (const { name, sql } of checkedRows) {
      for (let after = 0; ;) {
        const rows = await this.#database.select(sql, [after, pageRows]);
        for (const { id, text, sha256 } of rows) {
          if (sha256Of(String(text)) !== sha256) {
            const problem = `the row of the ${name} ${String(id)} is not as it was stored: it was changed`;
            yield { kind: "database", path: this.file, problem };
          }
        }
        if (rows.length < pageRows) {
          break;
        }
        after = Number(rows.at(-1)?.["row_order"]);
      }
    }
  }

  async close(): Promise<void> {
    await this.#database.close();
  }
}

async function checkFile(file: string, database: ToolDatabase): Promise<void> {
  const [result = {}] = await database.select("PRAGMA integrity_check(1)");
  const said = String(Object.values(result)[0]);
  const problem = said === "ok" ? await findLogDamage(`${file}-wal`) : said;
  if (problem !== undefined) {
    throw failureError(file, { reason: "damaged", message: problem });
  }
}

/** Node-RED may be writing the log: damage has to be found again, with nothing written in between. */
async function findLogDamage(log: string): Promise<string | undefined> {
  for (;;) {
    const before = await stateOf(log);
    if (!readLog(log).isDamaged) {
      return undefined;
    }
    await setTimeout(100);
    if ((await stateOf(log)) === before) {
      return "checksum mismatch in the write-ahead log";
    }
  }
}

async function stateOf(file: string): Promise<string> {
  const { size, mtimeNs } = await stat(file, { bigint: true }).catch(() => ({ size: 0n, mtimeNs: 0n }));
  return `${size} ${mtimeNs}`;
}
