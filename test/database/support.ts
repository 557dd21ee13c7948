import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Database, Statement } from "../../src/database/database.ts";
import { migrations } from "../../src/database/schema.ts";
import { SqliteDatabase } from "../../src/database/sqlite-database.ts";
import { SqliteThreads } from "../../src/database/sqlite-threads.ts";

/** Shared by the tests of a process: most of the time that a database needs to open goes to the start of its thread. */
export const testThreads = new SqliteThreads();

/** A database with the store's schema, which only one test uses. */
export interface TestDatabase {
  readonly database: Database;
  /** Returns the steps in which the database would run some statements. */
  explain(statements: readonly Statement[]): Promise<readonly string[]>;
  /** Closes the database and opens the same one again. */
  reopen(): Promise<Database>;
  close(): Promise<void>;
}

/** A SQLite database in a folder of its own. */
export async function openTestDatabase(): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), "store-"));
  const file = join(folder, "store.sqlite");
  const open = () => SqliteDatabase.open({ file, migrations, threads: testThreads });
  return reopening(open, {
    remove: () => rm(folder, { recursive: true }),
    explain: (statements) =>
      statements.map(({ sql, values }) => ({ sql: `EXPLAIN QUERY PLAN ${sql}`, values: values ?? [] })),
  });
}

interface Kind {
  /** Removes the closed database. */
  remove(): Promise<void>;
  /** The statements that explain others. */
  explain(statements: readonly Statement[]): readonly Statement[];
}

/** A database that can be closed and opened again. */
export async function reopening(
  open: () => Promise<Database>,
  { remove, explain }: Kind,
): Promise<TestDatabase> {
  let database = await open();
  return {
    get database() {
      return database;
    },
    async explain(statements) {
      const rows = await database.transaction(explain(statements));
      return rows.flat().map((row) => String(row["detail"] ?? row["QUERY PLAN"]));
    },
    async reopen() {
      await database.close();
      database = await open();
      return database;
    },
    async close() {
      await database.close();
      await remove();
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
