import { DimensionerError } from "../../errors/dimensioner-error.ts";
import type {
  ArchiveOptions,
  ArchiveProgress,
  CopyArchiveOptions,
  CopyReport,
  PruneArchiveOptions,
  PruneReport,
  RebuildIndexOptions,
  RebuildReport,
  VerifyArchiveOptions,
  VerifyReport,
} from "../../model/archive-reports.ts";
import { filesName, type FilesLocation } from "../../store/files-location.ts";
import { Copying } from "./copy.ts";
import { pruneIndexes } from "./prune-index.ts";
import { Pruning } from "./prune.ts";
import { Rebuild } from "./rebuild.ts";
import { Verification, type VerifyOptions } from "./verify.ts";
import { findPlace } from "./walk-packages.ts";

const progressEveryMs = 200;

export async function verifyArchive(
  folder: string | FilesLocation,
  options: VerifyArchiveOptions & Pick<VerifyOptions, "mayUseThread">,
): Promise<VerifyReport> {
  const { database = [], allowIncomplete = false, onFinding, onProgress, ...rest } = options;
  const { signal } = rest;
  const databases = typeof database === "string" ? [database] : database;
  const verification = new Verification(folder, { ...rest, databases });
  let findings = 0;
  await watched("verify", verification, { onProgress, signal }, async (finding) => {
    if (!(allowIncomplete && finding.kind === "incomplete")) {
      findings += 1;
      await onFinding?.(finding);
    }
  });
  return verification.report(findings);
}

export async function pruneArchive(
  named: string | FilesLocation,
  { before, dryRun = false, database, onPackage, onProgress, signal }: PruneArchiveOptions,
): Promise<PruneReport> {
  const total = { deleted: 0, held: 0, kept: 0, failed: 0, bytes: 0 };
  const folder = typeof named === "string" ? named : filesName(named);
  // Deleted before the folder that was named.
  const { root } = await findPlace(folder);
  const pruning = new Pruning(folder, { before, isDryRun: dryRun, signal });
  await watched("prune", pruning, { onProgress, signal }, async (one) => {
    total[one.what] += 1;
    total.bytes += one.what === "deleted" ? one.bytes : 0;
    await onPackage?.(one);
  });
  const rows =
    database === undefined || dryRun
      ? { rowsRemoved: null, rowsKept: null }
      : await pruneRows(root, database, signal);
  return { ...total, ...rows };
}

export async function rebuildIndex(
  folder: string,
  { database, onNotIndexed, onProgress, signal }: RebuildIndexOptions,
): Promise<RebuildReport> {
  const rebuild = new Rebuild(folder, { database, signal });
  await watched("rebuild", rebuild, { onProgress, signal }, async (one) => {
    await onNotIndexed?.(one);
  });
  return rebuild.report();
}

export async function copyArchive(
  folder: string,
  to: string,
  { retainDays, onNotCopied, onProgress, signal }: CopyArchiveOptions,
): Promise<CopyReport> {
  const copying = new Copying(folder, to, { retainDays, signal });
  await watched("copy", copying, { onProgress, signal }, async (one) => {
    await onNotCopied?.(one);
  });
  return copying.report();
}

/** The packages are deleted even if the database fails: then their rows stay until the next run. */
async function pruneRows(
  root: string,
  database: string,
  signal: AbortSignal | undefined,
): Promise<Pick<PruneReport, "rowsKept" | "rowsRemoved">> {
  try {
    return { rowsRemoved: await pruneIndexes(root, database, signal), rowsKept: null };
  } catch (error) {
    throwCancelled("prune", signal);
    return { rowsRemoved: null, rowsKept: error instanceof Error ? error.message : String(error) };
  }
}

interface Step<T> {
  run(): AsyncGenerator<T>;
  progress(): ArchiveProgress;
}

async function watched<T>(
  operation: string,
  step: Step<T>,
  { onProgress, signal }: ArchiveOptions,
  take: (one: T) => Promise<void>,
): Promise<void> {
  const timer = setInterval(() => onProgress?.(step.progress()), progressEveryMs);
  try {
    for await (const one of step.run()) {
      await take(one);
    }
    onProgress?.(step.progress());
  } catch (error) {
    throwCancelled(operation, signal);
    throw error;
  } finally {
    clearInterval(timer);
  }
}

function throwCancelled(operation: string, signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) {
    throw new DimensionerError("cancelledClose", { surface: "disk", operation, cause: signal.reason });
  }
}
