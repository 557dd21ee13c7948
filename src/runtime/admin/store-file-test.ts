import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { StoreDatabases } from "../../database/store-databases.ts";
import { summarize, type StoreSummary } from "../../database/summary.ts";
import { line, type TestLine } from "./connection-test.ts";
import { unfinishedLines } from "./store-unfinished.ts";

/**
 * Opens the database file of a store, shared with the nodes that have it open. If there is none yet, a database of another
 * name is created beside it and removed again: a deploy may create the real one at this very moment.
 */
export async function testDatabaseFile(
  { databases, isDeployed }: { readonly databases: StoreDatabases; readonly isDeployed: boolean },
  file: string,
): Promise<readonly TestLine[]> {
  const isMissing = !isDeployed && !existsSync(file);
  const summary = await (isMissing ? summaryOfTrial(databases, file) : summaryOf(databases, file));
  const { version, schemaVersion: schema, bytes } = summary;
  return [
    line("good", "database", { version, schema, size: { bytes }, path: file }),
    ...unfinishedLines(summary),
  ];
}

async function summaryOf(databases: StoreDatabases, file: string): Promise<StoreSummary> {
  const { database, release } = await databases.open({ kind: "file", file });
  try {
    return await summarize(database, "file");
  } finally {
    await release();
  }
}

async function summaryOfTrial(databases: StoreDatabases, file: string): Promise<StoreSummary> {
  const folder = dirname(file);
  const isNewFolder = !existsSync(folder);
  const name = `test-${randomUUID()}.sqlite`;
  try {
    return await summaryOf(databases, join(folder, name));
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
