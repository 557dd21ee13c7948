import { stat } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import type { Database, Row } from "../../database/database.ts";
import { isPostgresUrl, readPostgresUrl } from "../../database/postgres-address.ts";
import { PostgresDatabase } from "../../database/postgres-database.ts";
import { noTablesError, schemaName } from "../../database/postgres-failures.ts";
import { migrations } from "../../database/schema.ts";
import { failureError } from "../../database/sqlite-failures.ts";
import { readLog } from "../../database/sqlite-log.ts";
import type { ToolDatabase, ToolThread } from "../../database/tool-database.ts";

/** `quick` does not compare the indexes with the table: otherwise millions of rows take hours, in one transaction. */
export type CheckDepth = "quick" | "whole";

/** The database of a store, opened by a program that is not its owner. */
export interface IndexSource {
  readonly database: Database;
  /** The row of the table `store`. */
  readonly store: Row;
  /** The ids of the workers that share the database, each of which has a chain of its own; none of an embedded one. */
  readonly workers: readonly string[];
  /** Whether it notes where packages are being uploaded. */
  readonly hasUploads: boolean;
  /** Rejects with ERR_STORE where the database is damaged. */
  check(how: CheckDepth): Promise<void>;
}

/** Opens the database of a store for reading: a file, in the thread, or a PostgreSQL database by its address. Rejects with ERR_STORE. */
export function openIndexSource(given: string, thread: ToolThread): Promise<IndexSource> {
  return isPostgresUrl(given) ? openPostgres(given, thread) : openFile(given, thread);
}

/**
 * Opens the database of a store for a program that is not its owner, a file in the thread, while its owner may have it open. Rejects with
 * ERR_STORE, and with ERR_CONFIG for an address that is none.
 */
export function openForTool(given: string, as: "read" | "write", thread: ToolThread): Promise<Database> {
  return isPostgresUrl(given)
    ? PostgresDatabase.open({ address: readPostgresUrl(given), migrations, access: as })
    : thread.open({ as, file: given });
}

async function openPostgres(given: string, thread: ToolThread): Promise<IndexSource> {
  const database = await openForTool(given, "read", thread);
  try {
    const [[store] = []] = await database.transaction([{ sql: "SELECT * FROM store" }]);
    if (store === undefined) {
      throw noTablesError(readPostgresUrl(given).name);
    }
    const workers = await findWorkers(database);
    const check = (): Promise<void> => Promise.resolve();
    return { database, store, workers, hasUploads: await hasUploads(given, database), check };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Whether a database has the table `uploads`: those of earlier versions do not. */
export async function hasUploads(given: string, database: Database): Promise<boolean> {
  if (isPostgresUrl(given)) {
    return await hasTable(database, "uploads");
  }
  const sql = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'uploads'";
  const [tables = []] = await database.transaction([{ sql }]);
  return tables.length > 0;
}

/** Earlier versions have no such table. */
async function findWorkers(database: Database): Promise<string[]> {
  const [rows = []] = (await hasTable(database, "workers"))
    ? await database.transaction([{ sql: "SELECT worker_id FROM workers" }])
    : [];
  return rows.map((row) => String(row["worker_id"]));
}

async function hasTable(database: Database, name: string): Promise<boolean> {
  const [tables = []] = await database.transaction([
    {
      sql: "SELECT 1 FROM information_schema.tables WHERE table_schema = ? AND table_name = ?",
      values: [schemaName, name],
    },
  ]);
  return tables.length > 0;
}

async function openFile(file: string, thread: ToolThread): Promise<IndexSource> {
  const database = await thread.open({ as: "read", file });
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
      await checkFile(file, database, "whole");
      throw failureError(file, { reason: "foreign" });
    }
    const check = (how: CheckDepth): Promise<void> => checkFile(file, database, how);
    return { database, store, workers: [], hasUploads: await hasUploads(file, database), check };
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function checkFile(file: string, database: ToolDatabase, how: CheckDepth): Promise<void> {
  const [result = {}] = await database.select(`PRAGMA ${how === "quick" ? "quick" : "integrity"}_check(1)`);
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
