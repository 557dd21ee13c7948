import type { PostgresAddress } from "../../database/postgres-address.ts";
import { PostgresDatabase } from "../../database/postgres-database.ts";
import { readRights, type PostgresRights } from "../../database/postgres-rights.ts";
import { migrations } from "../../database/schema.ts";
import { summarize } from "../../database/summary.ts";
import { line, type TestLine } from "./connection-test.ts";
import { unfinishedLines } from "./store-unfinished.ts";

/**
 * Connects to the PostgreSQL database of a store without becoming one of its workers, and changes nothing. Rejects with
 * ERR_STORE.
 */
export async function testPostgres(address: PostgresAddress, withinMs: number): Promise<readonly TestLine[]> {
  const database = await PostgresDatabase.open({
    address,
    migrations,
    access: "look",
    poolSize: 1,
    connectWithinMs: withinMs,
    answerWithinMs: withinMs,
  });
  try {
    const rights = await readRights(database);
    const found = rights.hasTables
      ? await linesOfTables(database, rights, address.name)
      : [lineOfNone(rights, address.name)];
    return rights.isOpen ? [...found, line("warning", "postgresOpen")] : found;
  } finally {
    await database.close();
  }
}

async function linesOfTables(
  database: PostgresDatabase,
  { isEnough, user }: PostgresRights,
  path: string,
): Promise<readonly TestLine[]> {
  if (!isEnough) {
    return [line("bad", "postgresReadOnly", { path, user })];
  }
  const summary = await summarize(database, "postgres");
  const { version, schemaVersion: schema, bytes, workers } = summary;
  return [
    line("good", "postgres", { version, schema, size: { bytes }, path }),
    line("good", "workers", { count: workers ?? 0 }),
    ...unfinishedLines(summary),
  ];
}

function lineOfNone({ isEnough, user, version }: PostgresRights, path: string): TestLine {
  return isEnough
    ? line("good", "postgresEmpty", { version, path })
    : line("bad", "postgresNoSchema", { path, user });
}
