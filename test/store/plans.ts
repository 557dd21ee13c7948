import type { Database, Statement } from "../../src/store/database.ts";
import type { TestDatabase } from "./support.ts";

type Queried = Pick<Database, "transaction">;

/** Returns the steps in which a database runs the statements that something gives it. */
export async function stepsOf(
  test: TestDatabase,
  run: (database: Queried) => Promise<unknown>,
): Promise<readonly string[]> {
  const given: Statement[] = [];
  const transaction: Queried["transaction"] = (statements) => {
    given.push(...statements);
    return test.database.transaction(statements);
  };
  await run({ transaction });
  return await test.explain(given);
}
