import { checkArguments } from "../errors/check.ts";
import type {
  PruneArchiveOptions,
  PruneReport,
  RebuildIndexOptions,
  RebuildReport,
  VerifyArchiveOptions,
  VerifyReport,
} from "../model/archive-reports.ts";
import * as commands from "../vault/commands.ts";
import { pruneArguments, rebuildArguments, verifyArguments } from "./arguments.ts";

/**
 * Checks the packages in a folder or a bucket, as `dimensioner verify` does: it only reads, and may run while Node-RED is writing. Findings go to
 * `onFinding`; what could not be checked is in the report.
 *
 * Rejects with ERR_CONFIG (a blank folder), ERR_INPUT (an argument that cannot be right), ERR_FILE (no such folder, denied) and
 * ERR_CANCELLED.
 *
 *     const { verdict } = await verifyArchive("/srv/archive", { database: "/data/dimensioner", onFinding: console.log });
 */
export async function verifyArchive(
  folder: string,
  options: VerifyArchiveOptions = {},
): Promise<VerifyReport> {
  checkArguments({ surface: "disk", operation: "verify" }, { folder, options }, verifyArguments);
  return commands.verifyArchive(folder, options);
}

/**
 * Deletes packages because of their age, as `dimensioner prune` does; of a bucket also what belongs to no package. What became of each goes to
 * `onPackage`. Where the index cannot be written the packages are deleted all the same, and the report says why their rows stay.
 *
 * Rejects with ERR_CONFIG, ERR_INPUT, ERR_FILE (no such folder, denied), ERR_STORE (the bucket) and ERR_CANCELLED, between two packages.
 *
 *     await pruneArchive("/srv/archive", { before: new Date(Date.now() - 90 * 86_400_000), dryRun: true });
 */
export async function pruneArchive(folder: string, options: PruneArchiveOptions): Promise<PruneReport> {
  checkArguments({ surface: "disk", operation: "prune" }, { folder, options }, pruneArguments);
  return commands.pruneArchive(folder, options);
}

/**
 * Puts the packages of a folder into the index of a database, as `dimensioner rebuild` does; a damaged database is moved aside. No other
 * process may have it open. What could not be put there goes to `onNotIndexed`.
 *
 * Rejects with ERR_CONFIG, ERR_INPUT, ERR_FILE (no such folder, denied), ERR_STORE (the database is in use, of a newer version, of
 * another folder, or of something else) and ERR_CANCELLED; then nothing has changed, or some rows of a whole database.
 *
 *     const { movedTo } = await rebuildIndex("/srv/archive", { database: "/data/dimensioner/a1b2.sqlite" });
 */
export async function rebuildIndex(folder: string, options: RebuildIndexOptions): Promise<RebuildReport> {
  checkArguments({ surface: "store", operation: "rebuild" }, { folder, options }, rebuildArguments);
  return commands.rebuildIndex(folder, options);
}
