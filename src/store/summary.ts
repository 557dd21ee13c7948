import type { Database } from "./database.ts";

/** Facts of a store's database, and the unfinished work in it. */
export interface StoreSummary {
  readonly sqliteVersion: string;
  readonly schemaVersion: number;
  /** The size of the file, without its log. */
  readonly bytes: number;
  /** How many jobs of archive nodes have not ended. */
  readonly openJobs: number;
  /** When the oldest of them was accepted (ISO 8601, UTC); null where none is open. */
  readonly oldestJobAt: string | null;
  /** How many webhook records nobody has handled. */
  readonly unhandledRecords: number;
}

/** Rejects with ERR_STORE. */
export async function summarize(database: Pick<Database, "transaction">): Promise<StoreSummary> {
  const [[versions] = [], [schema] = [], [size] = [], [jobs] = [], [records] = []] =
    await database.transaction([
      { sql: "SELECT sqlite_version() AS version" },
      { sql: "PRAGMA user_version" },
      { sql: "SELECT page_count * page_size AS bytes FROM pragma_page_count(), pragma_page_size()" },
      {
        sql: `SELECT count(*) AS count, min(accepted_at) AS oldest FROM jobs
          WHERE state NOT IN ('reported', 'failed')`,
      },
      { sql: "SELECT count(*) AS count FROM records WHERE handled_at IS NULL" },
    ]);
  return {
    sqliteVersion: String(versions?.["version"]),
    schemaVersion: Number(schema?.["user_version"]),
    bytes: Number(size?.["bytes"]),
    openJobs: Number(jobs?.["count"]),
    oldestJobAt: typeof jobs?.["oldest"] === "string" ? jobs["oldest"] : null,
    unhandledRecords: Number(records?.["count"]),
  };
}
