import { ToolThread } from "../database/tool-database.ts";
import { DimensionerError } from "../errors/dimensioner-error.ts";
import { field } from "../errors/interpolation.ts";
import type {
  ArchiveOptions,
  ArchiveProgress,
  CopyArchiveOptions,
  CopyReport,
  PruneArchiveOptions,
  PruneReport,
  PrunedPackage,
  RebuildIndexOptions,
  RebuildReport,
  VerifyArchiveOptions,
  VerifyReport,
} from "../model/archive-reports.ts";
import { Copying } from "./copy.ts";
import type { FilesLocation } from "./files-location.ts";
import { refuseOtherPlace } from "./index-reader.ts";
import { LeftoverPruning } from "./leftovers.ts";
import { type OpenedPlace, openPlace } from "./open-place.ts";
import { Pruning } from "./prune.ts";
import { Rebuild } from "./rebuild.ts";
import { Scrub } from "./scrub.ts";
import { Verification, type VerifyOptions } from "./verify.ts";

const progressEveryMs = 200;
const dayMs = 24 * 3_600_000;

export async function verifyArchive(
  folder: string | FilesLocation,
  options: VerifyArchiveOptions & Pick<VerifyOptions, "mayBlock" | "mayUseThread">,
): Promise<VerifyReport> {
  const { database = [], allowIncomplete = false, forMs, onFinding, onProgress, ...rest } = options;
  const { signal } = rest;
  const databases = typeof database === "string" ? [database] : database;
  const verification =
    forMs === undefined
      ? new Verification(folder, { ...rest, databases })
      : new Scrub(folder, { ...rest, databases, forMs });
  let findings = 0;
  await watched("verify", verification, { onProgress, signal }, async (finding) => {
    if (!(allowIncomplete && finding.kind === "incomplete")) {
      findings += 1;
      await onFinding?.(finding);
    }
  });
  return verification.report(findings);
}

interface PruneOptionsOfCommand extends Omit<PruneArchiveOptions, "database"> {
  /** ERR_CONFIG without it. */
  readonly database: string | undefined;
  /** For tests: the age from which what belongs to no package is removed from a bucket; otherwise a day. */
  readonly leftoverAgeMs?: number;
}

export async function pruneArchive(
  folder: string | FilesLocation,
  options: PruneOptionsOfCommand,
): Promise<PruneReport> {
  const { before, keepFree, useAtMost, despiteClock, dryRun = false, database } = options;
  const { onPackage, onProgress, signal } = options;
  const space = keepFree === undefined && useAtMost === undefined ? undefined : { keepFree, useAtMost };
  const total = { deleted: 0, held: 0, kept: 0, failed: 0, leftover: 0, bytes: 0 };
  const take = async (one: PrunedPackage): Promise<void> => {
    total[one.what] += 1;
    total.bytes += one.what === "deleted" ? one.bytes : 0;
    await onPackage?.(one);
  };
  if (database === undefined) {
    throw new DimensionerError("pruneNoDatabase", { surface: "config", operation: "prune" });
  }
  if (before === undefined && space === undefined) {
    const values = { field: field("olderThan") };
    throw new DimensionerError("inputMissing", { surface: "disk", operation: "prune" }, values);
  }
  const place = await openPlace(folder, { signal });
  const thread = new ToolThread();
  try {
    await refuseOtherPlace(place, database, { thread, isOwn: typeof folder !== "string" });
    const rule = { before: before ?? new Date(), space, despiteClock };
    const pruning = new Pruning(place, { ...rule, database, thread, isDryRun: dryRun, signal });
    await watched("prune", pruning, { onProgress, signal }, take);
    const leftoversKept = await pruneLeftovers(place, { ...options, database, thread }, take);
    const { leftover: leftovers, ...counts } = total;
    return {
      ...counts,
      leftovers,
      leftoversKept: place.files.kind === "s3" ? leftoversKept : null,
      space: pruning.space(),
    };
  } finally {
    await thread.close();
    await place.close();
  }
}

export async function rebuildIndex(
  folder: string | FilesLocation,
  { database, log, newLog, onNotIndexed, onProgress, signal }: RebuildIndexOptions,
): Promise<RebuildReport> {
  const rebuild = new Rebuild(folder, { database, log, isLogNew: newLog, signal });
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

/** Returns why it ended early; the packages are deleted all the same. */
async function pruneLeftovers(
  place: OpenedPlace,
  {
    database,
    dryRun,
    leftoverAgeMs = dayMs,
    signal,
    thread,
  }: PruneOptionsOfCommand & { readonly database: string; readonly thread: ToolThread },
  take: (one: PrunedPackage) => Promise<void>,
): Promise<string | null> {
  if (place.files.kind === "folder") {
    return null;
  }
  const beforeMs = Date.now() - leftoverAgeMs;
  const options = { database, thread, beforeMs, isDryRun: dryRun, signal };
  const pruning = new LeftoverPruning(place, place.files, options);
  try {
    for await (const one of pruning.run()) {
      await take(one);
    }
  } catch (error) {
    throwCancelled("prune", signal);
    throw error;
  }
  return pruning.problem;
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
