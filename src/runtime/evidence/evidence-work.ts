import type { NodeAPI } from "node-red";
import type { ArchiveDisk } from "../../archive/archive-disk.ts";
import { describeIndexed } from "../../archive/evidence/describe.ts";
import { holdPackage, releasePackage, type HoldChange } from "../../archive/evidence/hold.ts";
import { listMissing } from "../../archive/evidence/missing.ts";
import { openPackage, openRoot } from "../../archive/evidence/open-package.ts";
import { readPeriod, type Period } from "../../archive/evidence/period.ts";
import { runInThread } from "../../archive/evidence/run-in-thread.ts";
import { searchIndex, type Query } from "../../archive/evidence/search.ts";
import type { IndexedPackage } from "../../archive/packages/package-index.ts";
import { field, phrase } from "../../errors/interpolation.ts";
import { guardedDisk } from "../../media/disk-guard.ts";
import type { ArchiveProgress } from "../../model/archive-reports.ts";
import type { EvidencePackage, MissingEvidence, PruneResult, VerifyResult } from "../../model/shapes.ts";
import { packageVersion } from "../../package/package-files.ts";
import type { DatabaseLease } from "../../store/store-databases.ts";
import type { Job } from "../action/serve.ts";
import type { Message } from "../messages.ts";
import { errorBeforeSending, show, type Operation } from "../failure.ts";

/** What one message asks for. */
export interface EvidenceRequest {
  readonly operation: Operation;
  readonly by: Query["by"];
  /** What is looked up; undefined if the message has nothing there. */
  readonly value: string | undefined;
  readonly limit: number;
  /** The folder of packages, as the store's settings name it. */
  readonly folder: string;
  /** The store's database. */
  readonly file: string;
  readonly lease: DatabaseLease;
}

const progressEveryMs = 250;
const dayMs = 24 * 3_600_000;
/** How many packages are read at the same time. */
const readAtOnce = 2;

/** Finds packages, the newest first, and reads each of them. */
export async function findPackages(request: EvidenceRequest, { signal }: Job): Promise<EvidencePackage[]> {
  const { disk, root } = await openFolder(request);
  const found = [...(await searchIndex(request.lease.database, queryOf(request), request.limit))];
  const described: EvidencePackage[] = [];
  while (described.length < found.length && !signal.aborted) {
    const some = found.slice(described.length, described.length + readAtOnce);
    described.push(...(await Promise.all(some.map((one) => describeIndexed(root, one, disk)))));
  }
  return described;
}

/** Lists what of a period has no complete package. */
export async function findMissing(request: EvidenceRequest): Promise<readonly MissingEvidence[]> {
  return listMissing(request.lease.database, periodOf(request), request.limit);
}

/** Puts packages on hold, or releases them, and returns them as they are then. */
export async function changeHold(
  request: EvidenceRequest,
  what: "hold" | "release",
  change: HoldChange,
): Promise<EvidencePackage[]> {
  const { disk, root } = await openFolder(request);
  const found = await demandPackages(request);
  // All are opened before the first one is changed.
  const opened = await Promise.all(found.map((one) => openPackage(root, one, disk)));
  for (const one of opened) {
    await (what === "hold" ? holdPackage(one, change, disk) : releasePackage(one, change, disk));
  }
  return Promise.all(found.map((one) => describeIndexed(root, one, disk)));
}

/** Verifies packages or, by `all`, the whole archive with its index. */
export async function verify(request: EvidenceRequest, job: Job): Promise<VerifyResult> {
  const { root } = await openFolder(request);
  const packages = request.by === "all" ? null : await demandPackages(request);
  const { first, findings, ...report } = await runInThread(
    { action: "verify", root, database: request.file, packages, most: request.limit },
    { signal: job.signal, onProgress: showProgress(job) },
  );
  const { name, version } = packageVersion();
  return {
    ...report,
    findings: [...first],
    findingCount: findings,
    unchecked: [...report.unchecked],
    notes: [...report.notes],
    verifiedAtUtc: new Date().toISOString(),
    software: `${name} ${version}`,
  };
}

/** Deletes packages for their age, or only lists them. */
export async function prune(
  request: EvidenceRequest,
  job: Job,
  { olderThan, dryRun }: { readonly olderThan: number; readonly dryRun: boolean },
): Promise<PruneResult> {
  const { root } = await openFolder(request);
  const before = Date.now() - olderThan * dayMs;
  const { first, ...report } = await runInThread(
    { action: "prune", root, database: request.file, before, dryRun, most: request.limit },
    { signal: job.signal, onProgress: showProgress(job) },
  );
  return { ...report, packages: [...first], before: new Date(before).toISOString(), dryRun };
}

/** One message for each item, which the Join node puts together again. */
export function messagesOf<T>(
  RED: NodeAPI,
  { msg }: Job,
  items: readonly T[],
  put: (item: T) => object,
): Message[] {
  const id = RED.util.generateId();
  const count = items.length;
  return items.map((item, index) =>
    Object.assign(RED.util.cloneMessage(msg), put(item), { parts: { id, index, count, type: "array" } }),
  );
}

async function openFolder({ folder }: EvidenceRequest): Promise<{ disk: ArchiveDisk; root: string }> {
  const disk = guardedDisk(folder);
  return { disk, root: await openRoot(folder, disk) };
}

/** Throws ERR_NOT_FOUND where there are none, and ERR_INPUT where there are more than the limit. */
async function demandPackages(request: EvidenceRequest): Promise<readonly IndexedPackage[]> {
  const { operation, by, limit, lease } = request;
  const found = await searchIndex(lease.database, queryOf(request), limit + 1);
  const value = show(request.value ?? by);
  if (found.length === 0) {
    throw errorBeforeSending(operation, "evidenceNotFound", { value });
  }
  if (found.length > limit) {
    throw errorBeforeSending(operation, "evidenceTooMany", { value, most: limit });
  }
  return found;
}

function queryOf(request: EvidenceRequest): Query {
  const { by } = request;
  switch (by) {
    case "all":
      return { by };
    case "period":
      return { by, period: periodOf(request) };
    default:
      return { by, value: valueOf(request) };
  }
}

function periodOf(request: EvidenceRequest): Period {
  const value = valueOf(request);
  const period = readPeriod(value, new Date());
  if (period === undefined) {
    const problem = phrase("period");
    throw errorBeforeSending(request.operation, "inputValue", {
      field: field("value"),
      value: show(value),
      problem,
    });
  }
  return period;
}

function valueOf({ operation, value }: EvidenceRequest): string {
  const text = value?.trim() ?? "";
  if (text === "") {
    throw errorBeforeSending(operation, "inputMissing", { field: field("value") });
  }
  return text;
}

function showProgress({ status }: Job): (progress: ArchiveProgress) => void {
  let shownAt = performance.now();
  return ({ packages: count, expectedPackages: total }) => {
    const now = performance.now();
    if (now - shownAt < progressEveryMs) {
      return;
    }
    shownAt = now;
    if (total === null) {
      status.say("working", "packages", { count });
    } else {
      status.say("working", "packagesOf", { count, total });
    }
  };
}
