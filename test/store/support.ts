import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrations } from "../../src/store/schema.ts";
import { SqliteDatabase } from "../../src/store/sqlite-database.ts";
import { SqliteThreads } from "../../src/store/sqlite-threads.ts";

/** Shared by the tests of a process: most of the time that a database needs to open goes to the start of its thread. */
export const testThreads = new SqliteThreads();

/** A database with the store's schema, in a folder of its own. */
export interface TestDatabase {
  readonly file: string;
  readonly database: SqliteDatabase;
  /** Closes the database and opens the same file again. */
  reopen(): Promise<SqliteDatabase>;
  close(): Promise<void>;
}

export async function openTestDatabase(): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), "store-"));
  const file = join(folder, "store.sqlite");
  let database = await SqliteDatabase.open({ file, migrations, threads: testThreads });
  return {
    file,
    get database() {
      return database;
    },
    async reopen() {
      await database.close();
      database = await SqliteDatabase.open({ file, migrations, threads: testThreads });
      return database;
    },
    async close() {
      await database.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** A clock that stands still until it is moved. */
export function testClock(start = "2026-11-22T09:00:00.000Z") {
  let at = new Date(start);
  return {
    now: () => at,
    advance(ms: number): void {
      at = new Date(at.getTime() + ms);
    },
  };
}
