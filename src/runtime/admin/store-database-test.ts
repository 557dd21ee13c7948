import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { databaseName, type DatabaseLocation } from "../../database/database-location.ts";
import type { StoreDatabases } from "../../database/store-databases.ts";
import { lineOfError, orLate, type TestLine } from "./connection-test.ts";
import { testDatabaseFile } from "./store-file-test.ts";
import { testPostgres } from "./store-postgres-test.ts";

/** Options of one test of a database. */
export interface DatabaseTest {
  readonly databases: StoreDatabases;
  /** The store's database, whether it exists or not. */
  readonly location: DatabaseLocation;
  readonly isDeployed: boolean;
  readonly signal: AbortSignal;
  /** The time limit of the signal, for the sentence that mentions it. */
  readonly withinMs: number;
}

/** Opens a store's database, and reports what it contains. */
export async function testDatabase(test: DatabaseTest): Promise<readonly TestLine[]> {
  const { location, signal, withinMs } = test;
  const path = databaseName(location);
  const tested =
    location.kind === "file"
      ? testDatabaseFile(test, location.file)
      : testPostgres(location.address, withinMs);
  try {
    const lines = await orLate(tested, signal);
    if (lines === "late") {
      const values = { path, seconds: withinMs / 1000 };
      const sentence = location.kind === "file" ? "storeUnanswered" : "postgresUnanswered";
      throw new DimensionerError(sentence, { surface: "store", operation: "test" }, values);
    }
    return lines;
  } catch (error) {
    const found = lineOfError(error);
    return [{ ...found, values: { ...found.values, path } }];
  }
}
