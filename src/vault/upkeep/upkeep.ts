import { resolve } from "node:path";
import { ToolThread } from "../../database/tool-database.ts";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { field } from "../../errors/interpolation.ts";
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
} from "../../model/archive-reports.ts";
import { Copying } from "./copy.ts";
import type { VaultLocation } from "../store.ts";
import { IndexReader, findDatabases, isOfPlace, openWithLog, refuseOtherPlace } from "../index-reader.ts";
import { LeftoverPruning } from "./leftovers.ts";
import type { LogEvent } from "../log/events.ts";
import { addToLog } from "../log/open-log.ts";
import { type OpenedScope, openScope } from "../open-vault.ts";
import { Pruning } from "./prune.ts";
import { Rebuild } from "./rebuild.ts";
import { isS3Url } from "../s3/bucket-address.ts";
import { Scrub } from "./scrub.ts";
import { Verification, type VerifyOptions } from "./verify.ts";
import { dayMs } from "../../time/clocks.ts";

const progressEveryMs = 200;

export async function verifyArchive(
  folder: string | VaultLocation,
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
  folder: string | VaultLocation,
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
  const scope = await openScope(folder, { signal });
  const thread = new ToolThread();
  try {
    await refuseOtherPlace(scope, database, { thread, isOwn: typeof folder !== "string" });
    const rule = { before: before ?? new Date(), space, despiteClock };
    const pruning = new Pruning(scope, { ...rule, database, thread, isDryRun: dryRun, signal });
    await watched("prune", pruning, { onProgress, signal }, take);
    const leftoversKept = await pruneLeftovers(scope, { ...options, database, thread }, take);
    const { leftover: leftovers, ...counts } = total;
    return {
      ...counts,
      leftovers,
      leftoversKept: scope.vault.kind === "s3" ? leftoversKept : null,
      space: pruning.space(),
    };
  } finally {
    await thread.close();
    await scope.close();
  }
}

export async function rebuildIndex(
  folder: string | VaultLocation,
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
  { retainDays, database, onNotCopied, onProgress, signal }: CopyArchiveOptions,
): Promise<CopyReport> {
  const copying = new Copying(folder, to, { retainDays, signal });
  await watched("copy", copying, { onProgress, signal }, async (one) => {
    await onNotCopied?.(one);
  });
  if (database !== undefined) {
    await noteCopy(folder, database, (store) => {
      const size = copying.linesOf(store);
      const at = new Date().toISOString();
      return size === undefined ? undefined : { what: "copied", at, to: withoutQuery(to), size };
    });
  }
  return copying.report();
}

/** The address of a bucket without what says how it is reached. */
function withoutQuery(to: string): string {
  return isS3Url(to) ? to.replace(/\?.*$/s, "") : resolve(to);
}

/** Has the log of a store say that there is a copy of it. The store is the one whose packages are in the folder. */
async function noteCopy(
  folder: string,
  given: string,
  eventOf: (store: string) => LogEvent | undefined,
): Promise<void> {
  const scope = await openScope(folder, {});
  const thread = new ToolThread();
  try {
    const { key, location: name, vault } = scope;
    for (const file of await findDatabases(given, { key, name }, thread)) {
      const index = await IndexReader.open(file, thread);
      const event = eventOf(index.store);
      const isHere = await isOfPlace(index, key, false);
      await index.close();
      if (event === undefined || !isHere) {
        continue;
      }
      const { database, log: table } = await openWithLog(file, "write", thread, "copy");
      try {
        await addToLog({ table, vault }, database, event);
      } finally {
        await database.close();
      }
    }
  } finally {
    await thread.close();
    await scope.close();
  }
}

/** Returns why it ended early; the packages are deleted all the same. */
async function pruneLeftovers(
  scope: OpenedScope,
  {
    database,
    dryRun,
    leftoverAgeMs = dayMs,
    signal,
    thread,
  }: PruneOptionsOfCommand & { readonly database: string; readonly thread: ToolThread },
  take: (one: PrunedPackage) => Promise<void>,
): Promise<string | null> {
  if (scope.vault.kind === "folder") {
    return null;
  }
  const beforeMs = (await scope.vault.leastTimeMs()) - leftoverAgeMs;
  const options = { database, thread, beforeMs, isDryRun: dryRun, signal };
  const pruning = new LeftoverPruning(scope, scope.vault, options);
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
