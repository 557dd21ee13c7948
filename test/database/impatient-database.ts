import type { Database, Row, Statement } from "../../src/database/database.ts";
import { unansweredPostgresError } from "../../src/database/postgres-connection.ts";

/** A database for a client that gives up waiting when the test says so; the server goes on. */
export class ImpatientDatabase implements Database {
  readonly #database: Database;
  readonly #running = new Set<{ readonly statements: readonly Statement[]; giveUp(): void }>();

  constructor(database: Database) {
    this.#database = database;
  }

  async transaction(statements: readonly Statement[]): Promise<readonly (readonly Row[])[]> {
    const { promise: givenUp, reject } = Promise.withResolvers<never>();
    const running = { statements, giveUp: () => reject(unansweredPostgresError("store", 30_000)) };
    this.#running.add(running);
    try {
      return await Promise.race([this.#database.transaction(statements), givenUp]);
    } finally {
      this.#running.delete(running);
    }
  }

  /** Gives up the transactions that are running and have a statement with this text. */
  giveUp(sql: string): void {
    for (const { statements, giveUp } of this.#running) {
      if (statements.some((statement) => statement.sql.includes(sql))) {
        giveUp();
      }
    }
  }

  async close(): Promise<void> {
    await this.#database.close();
  }
}
