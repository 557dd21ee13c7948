import { randomUUID } from "node:crypto";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import {
  type Database,
  type Row,
  type Statement,
  type DatabaseLocation,
  databaseText,
} from "../../src/database/database.ts";
import { RecordArrivals } from "../../src/database/inbox.ts";
import { LogTable } from "../../src/database/log-table.ts";
import { migrations } from "../../src/database/schema.ts";
import type { StoreConnection } from "../../src/database/store-databases.ts";

/**
 * The databases of stores in this process's memory, for tests that open hundreds: a real one takes a thread and several syncs. They
 * outlive their closing, as files do.
 */
export class MemoryDatabases {
  readonly #open = new Map<string, { readonly memory: MemoryDatabase; readonly storeId: string }>();

  async open(location: DatabaseLocation): Promise<StoreConnection> {
    const key = databaseText(location);
    const { memory, storeId } = this.#open.get(key) ?? this.#make(key);
    const database: Database = {
      transaction: async (statements) => memory.run(statements),
      close: async () => undefined,
    };
    return {
      worker: { id: storeId, isAlone: true },
      arrivals: new RecordArrivals(),
      log: new LogTable(database, storeId, storeId),
      check: null,
      database,
      release: async () => undefined,
    };
  }

  /** The transactions whose jobs in a store have not ended. */
  openJobs(file: string): readonly unknown[] {
    return (
      this.#open
        .get(databaseText({ kind: "file", file }))
        ?.memory.openJobs()
        .map((row) => row["transaction_id"]) ?? []
    );
  }

  #make(key: string): { memory: MemoryDatabase; storeId: string } {
    const made = { memory: new MemoryDatabase(), storeId: randomUUID() };
    const values = [made.storeId, new Date().toISOString()];
    made.memory.run([{ sql: "INSERT INTO store (store_id, created_at) VALUES (?, ?)", values }]);
    this.#open.set(key, made);
    return made;
  }
}

/** The store's schema in SQLite, in this process's memory. */
export class MemoryDatabase {
  readonly #sqlite = new DatabaseSync(":memory:");
  readonly #prepared = new Map<string, StatementSync>();

  constructor() {
    this.#sqlite.exec("PRAGMA foreign_keys = ON");
    for (const statement of migrations.flat()) {
      this.#sqlite.exec(typeof statement === "string" ? statement : statement.sqlite.join(";\n"));
    }
  }

  /** All of the statements in one transaction or none. */
  run(statements: readonly Statement[]): Row[][] {
    this.#sqlite.exec("BEGIN");
    try {
      const rows = statements.map(({ sql, values = [] }) => this.#prepare(sql).all(...values));
      this.#sqlite.exec("COMMIT");
      return rows as Row[][];
    } catch (error) {
      this.#sqlite.exec("ROLLBACK");
      throw error;
    }
  }

  openJobs(): Row[] {
    const sql = "SELECT transaction_id, state FROM jobs WHERE state NOT IN ('reported', 'failed')";
    return this.run([{ sql }])[0] ?? [];
  }

  close(): void {
    this.#sqlite.close();
  }

  #prepare(sql: string): StatementSync {
    const prepared = this.#prepared.get(sql) ?? this.#sqlite.prepare(sql);
    this.#prepared.set(sql, prepared);
    return prepared;
  }
}
