import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import type { StoreDatabases } from "../../store/store-databases.ts";
import { summarize, type StoreSummary } from "../../store/summary.ts";
import { line, lineOfError, orLate, type TestLine } from "./connection-test.ts";

/** What one test of a database needs. */
export interface DatabaseTest {
  readonly databases: StoreDatabases;
  /** Where the store has its database, or will have it. */
  readonly file: string;
  readonly isDeployed: boolean;
  readonly signal: AbortSignal;
  /** How long the signal lets it run, for the sentence that says so. */
  readonly withinMs: number;
}

/**
 * Opens a store's database, or shares it with the nodes that have it open, and says what it holds. Where there is none
 * yet, a database of another name is made beside it and removed: a deploy in this very moment can make the real one.
 */
export async function testDatabase(test: DatabaseTest): Promise<readonly TestLine[]> {
  const { file, isDeployed, signal, withinMs } = test;
  const opened = isDeployed || existsSync(file) ? summaryOf(test, file) : summaryOfTrial(test);
  try {
    const summary = await orLate(opened, signal);
    if (summary === "late") {
      const values = { path: file, seconds: withinMs / 1000 };
      throw new DimensionerError("storeUnanswered", { surface: "store", operation: "test" }, values);
    }
    return linesOf(summary, file);
  } catch (error) {
    const found = lineOfError(error);
    return [{ ...found, values: { ...found.values, path: file } }];
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

async function summaryOf({ databases }: DatabaseTest, file: string): Promise<StoreSummary> {
  const { database, release } = await databases.open(file);
  try {
    return await summarize(database);
  } finally {
    await release();
  }
}

async function summaryOfTrial(test: DatabaseTest): Promise<StoreSummary> {
  const folder = dirname(test.file);
  const isNewFolder = !existsSync(folder);
  const name = `test-${randomUUID()}.sqlite`;
  try {
    return await summaryOf(test, join(folder, name));
  } finally {
    // SQLite has files beside the database, whose names begin with its own.
    const names = await readdir(folder).catch(() => []);
    const made = names.filter((one) => one.startsWith(name));
    await Promise.all(made.map((one) => rm(join(folder, one), { force: true })));
    if (isNewFolder) {
      // A store that was deployed meanwhile keeps its folder: it is not empty.
      await rmdir(folder).catch(() => undefined);
    }
  }
}
