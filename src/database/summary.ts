import { type Database, type Statement, databaseTime, type DatabaseLocation } from "./database.ts";
import { serverVersion } from "./postgres-connection.ts";

/** Facts of a store's database, and the unfinished work in it. */
export interface StoreSummary {
  /** The version of SQLite, or of the PostgreSQL server. */
  readonly version: string;
  readonly schemaVersion: number;
  /** The size of the file without its log, or of the tables with their indexes. */
  readonly bytes: number;
  /** How many processes work on the store now; null for a file, on which only one can. */
  readonly workers: number | null;
  /** How many jobs of archive nodes have not ended. */
  readonly openJobs: number;
  /** When the oldest of them was accepted (ISO 8601, UTC); null where none is open. */
  readonly oldestJobAt: string | null;
  /** How many webhook records nobody has handled. */
  readonly unhandledRecords: number;
}

const factsOf: Readonly<Record<DatabaseLocation["kind"], Statement>> = {
  file: {
    sql: `SELECT sqlite_version() AS version, user_version AS schema, page_count * page_size AS bytes, NULL AS workers
      FROM pragma_user_version(), pragma_page_count(), pragma_page_size()`,
  },
  postgres: {
    sql: `SELECT ${serverVersion} AS version, (SELECT version FROM schema_version) AS schema,
        (SELECT CAST(sum(pg_total_relation_size(oid)) AS BIGINT) FROM pg_class
          WHERE relnamespace = to_regnamespace(current_schema()) AND relkind = 'r') AS bytes,
        (SELECT count(*) FROM workers WHERE lease_until > ${databaseTime}) AS workers`,
    values: ["0 seconds"],
  },
};

/** Rejects with ERR_STORE. */
export async function summarize(
  database: Pick<Database, "transaction">,
  kind: DatabaseLocation["kind"],
): Promise<StoreSummary> {
  const [[facts] = [], [jobs] = [], [records] = []] = await database.transaction([
    factsOf[kind],
    {
      sql: `SELECT count(*) AS count, min(accepted_at) AS oldest FROM jobs
        WHERE state NOT IN ('reported', 'failed')`,
    },
    { sql: "SELECT count(*) AS count FROM records WHERE handled_at IS NULL" },
  ]);
  const workers = facts?.["workers"] ?? null;
  return {
    version: String(facts?.["version"]),
    schemaVersion: Number(facts?.["schema"]),
    bytes: Number(facts?.["bytes"]),
    workers: workers === null ? null : Number(workers),
    openJobs: Number(jobs?.["count"]),
    oldestJobAt: typeof jobs?.["oldest"] === "string" ? jobs["oldest"] : null,
    unhandledRecords: Number(records?.["count"]),
  };
}
