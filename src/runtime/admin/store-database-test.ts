import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { databaseName, type DatabaseLocation } from "../../store/database-location.ts";
import type { StoreDatabases } from "../../store/store-databases.ts";
import { summarize, type StoreSummary } from "../../store/summary.ts";
import { line, lineOfError, orLate, type TestLine } from "./connection-test.ts";

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

/**
 * Opens a store's database, shared with the nodes that have it open, and reports what it contains. If there is none
 * yet, a database of another name is created beside it and removed again: a deploy may create the real one at this very
 * moment.
 */
export async function testDatabase(test: DatabaseTest): Promise<readonly TestLine[]> {
  const { location, isDeployed, signal, withinMs } = test;
  const path = databaseName(location);
  const isMissing = location.kind === "file" && !isDeployed && !existsSync(location.file);
  const opened = isMissing ? summaryOfTrial(test, location.file) : summaryOf(test, location);
  try {
    const summary = await orLate(opened, signal);
    if (summary === "late") {
      const values = { path, seconds: withinMs / 1000 };
      throw new DimensionerError("storeUnanswered", { surface: "store", operation: "test" }, values);
    }
    return linesOf(summary, path);
  } catch (error) {
    const found = lineOfError(error);
    return [{ ...found, values: { ...found.values, path } }];
  }
}

function linesOf(summary: StoreSummary, path: string): readonly TestLine[] {
  const {
    sqliteVersion: version,
    schemaVersion: schema,
    bytes,
    openJobs,
    oldestJobAt,
    unhandledRecords,
  } = summary;
  return [
    line("good", "database", { version, schema, size: { bytes }, path }),
    oldestJobAt === null
      ? line("good", "jobsNone")
      : line("good", "jobs", { count: openJobs, time: { time: oldestJobAt } }),
    unhandledRecords === 0
      ? line("good", "recordsNone")
      : line("good", "records", { count: unhandledRecords }),
  ];
}

async function summaryOf({ databases }: DatabaseTest, location: DatabaseLocation): Promise<StoreSummary> {
  const { database, release } = await databases.open(location);
  try {
    return await summarize(database);
  } finally {
    await release();
  }
}

async function summaryOfTrial(test: DatabaseTest, file: string): Promise<StoreSummary> {
  const folder = dirname(file);
  const isNewFolder = !existsSync(folder);
  const name = `test-${randomUUID()}.sqlite`;
  try {
    return await summaryOf(test, { kind: "file", file: join(folder, name) });
  } finally {
    // SQLite's files beside the database have names that begin with its name.
    const names = await readdir(folder).catch(() => []);
    const made = names.filter((one) => one.startsWith(name));
    await Promise.all(made.map((one) => rm(join(folder, one), { force: true })));
    if (isNewFolder) {
      // The folder of a store that was deployed meanwhile stays, because it is not empty.
      await rmdir(folder).catch(() => undefined);
    }
  }
}
