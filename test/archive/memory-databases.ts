import { randomUUID } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import type { Row, Statement } from "../../src/store/database.ts";
import { RecordArrivals } from "../../src/store/record-arrivals.ts";
import { migrations } from "../../src/store/schema.ts";
import type { DatabaseLease } from "../../src/store/store-databases.ts";

/**
 * The databases of stores in this process's memory, for tests that open hundreds: a real one takes a thread and several syncs. They
 * outlive their closing, as files do.
 */
export class MemoryDatabases {
  readonly #open = new Map<string, { readonly sqlite: DatabaseSync; readonly storeId: string }>();

  async open(file: string): Promise<DatabaseLease> {
    const { sqlite, storeId } = this.#open.get(file) ?? this.#make(file);
    return {
      storeId,
      arrivals: new RecordArrivals(),
      database: {
        transaction: async (statements) => runTransaction(sqlite, statements),
        close: async () => undefined,
      },
      release: async () => undefined,
    };
  }

  /** How many jobs of a store have not ended. */
  openJobs(file: string): number {
    const count = "SELECT count(*) AS count FROM jobs WHERE state NOT IN ('told', 'failed')";
    return Number(this.#open.get(file)?.sqlite.prepare(count).get()?.["count"]);
  }

  #make(file: string): { sqlite: DatabaseSync; storeId: string } {
    const made = { sqlite: newDatabase(), storeId: randomUUID() };
    const insert = made.sqlite.prepare("INSERT INTO store (store_id, created_at) VALUES (?, ?)");
    insert.run(made.storeId, new Date().toISOString());
    this.#open.set(file, made);
    return made;
  }
}

/** The store's schema in SQLite. */
export function newDatabase(): DatabaseSync {
  const database = new DatabaseSync(":memory:");
  database.exec("PRAGMA foreign_keys = ON");
  migrations.flat().forEach((statement) => database.exec(statement));
  return database;
}

/** All of the statements or none. */
export function runTransaction(sqlite: DatabaseSync, statements: readonly Statement[]): Row[][] {
  sqlite.exec("BEGIN");
  try {
    const rows = statements.map(({ sql, values = [] }) => sqlite.prepare(sql).all(...values));
    sqlite.exec("COMMIT");
    return rows as Row[][];
  } catch (error) {
    sqlite.exec("ROLLBACK");
    throw error;
  }
}
