import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** The rows of a store's database, read from outside while others may have it open. */
export function rowsIn(file: string, select: string): Record<string, unknown>[] {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  try {
    // The rows themselves have no prototype, and so are not equal to an object of a test.
    return database
      .prepare(select)
      .all()
      .map((row) => ({ ...row }));
  } finally {
    database.close();
  }
}

/** Where a store has its database by default, below the user folder of Node-RED. */
export function storeDatabase(userDir: string, storeId: string): string {
  return join(userDir, "dimensioner", `${storeId}.sqlite`);
}
