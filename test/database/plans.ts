import type { Database, Statement } from "../../src/database/database.ts";
import type { TestDatabase } from "./support.ts";

/** A database that notes all statements that it runs. */
export function noting(database: Database, given: Statement[]): Database {
  return {
    transaction: (statements) => {
      given.push(...statements);
      return database.transaction(statements);
    },
    close: () => database.close(),
  };
}

/** Returns the statements that something gives a database. */
export async function statementsOf(
  test: Pick<TestDatabase, "database">,
  run: (database: Database) => Promise<unknown>,
): Promise<readonly Statement[]> {
  const given: Statement[] = [];
  await run(noting(test.database, given));
  return given;
}

/** Returns the steps in which a database runs the statements that something gives it. */
export async function stepsOf(
  test: TestDatabase,
  run: (database: Database) => Promise<unknown>,
): Promise<readonly string[]> {
  return await test.explain(await statementsOf(test, run));
}
