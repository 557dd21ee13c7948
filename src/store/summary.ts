import type { Database } from "./database.ts";

/** What a store's database is, and what in it is not finished. */
export interface StoreSummary {
  readonly sqliteVersion: string;
  readonly schemaVersion: number;
  /** Webhook records that nobody has handled. */
  readonly unhandledRecords: number;
}

/** Rejects with ERR_STORE. */
export async function summarize(database: Database): Promise<StoreSummary> {
  const [[versions] = [], [schema] = [], [records] = []] = await database.transaction([
    { sql: "SELECT sqlite_version() AS version" },
    { sql: "PRAGMA user_version" },
    { sql: "SELECT count(*) AS count FROM records WHERE handled_at IS NULL" },
  ]);
  return {
    sqliteVersion: String(versions?.["version"]),
    schemaVersion: Number(schema?.["user_version"]),
    unhandledRecords: Number(records?.["count"]),
  };
}
