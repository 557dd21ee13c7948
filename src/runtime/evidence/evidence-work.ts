import type { DatabaseLocation } from "../../database/database-location.ts";
import type { DatabaseLease } from "../../database/store-databases.ts";
import type { ExportResult, ExportTarget } from "../../evidence/export/export-packages.ts";
import { type EvidenceSource, type Sought, demandPackages } from "../../evidence/packages.ts";
import { withNext } from "../../evidence/report/exported-package.ts";
import { runInThread } from "../../evidence/run-in-thread.ts";
import { readStoreState } from "../../evidence/store-state.ts";
import type { ArchiveProgress } from "../../model/archive-reports.ts";
import type { PruneResult, StoreState, VerifyResult } from "../../model/shapes.ts";
import { packageVersion } from "../../package/package-files.ts";
import type { Language } from "../../rules/languages.ts";
import type { FilesLocation } from "../../vault/files-location.ts";
import type { ArchiveFiles } from "../../vault/files/archive-files.ts";
import type { Job } from "../action/serve.ts";
import { inputProperties } from "../archive/intent.ts";
import type { Operation } from "../failure.ts";
import type { Message } from "../messages.ts";

/** What one message asks for. */
export interface EvidenceRequest extends Sought {
  readonly operation: Operation;
  /** Where the packages of the store are, as its settings name it. */
  readonly files: FilesLocation;
  /** Where the store's database is. */
  readonly location: DatabaseLocation;
  readonly lease: DatabaseLease;
  /** Opens the packages, which the node closes. Rejects with ERR_FILE. */
  readonly openFiles: () => Promise<ArchiveFiles>;
  /** A PEM file with the root certificates that signers of time stamps are checked against; blank: none. */
  readonly roots: string;
}

const progressEveryMs = 250;
const dayMs = 24 * 3_600_000;

/**
 * Verifies packages or, by `all`, the whole archive with its index; and their time stamps.
 */
export async function verify(request: EvidenceRequest, job: Job): Promise<VerifyResult> {
  const source = await sourceOf(request);
  const { files, roots } = request;
  const packages = request.by === "all" ? null : await demandPackages(source, request);
  const { first, findings, ...report } = await runInThread(
    { action: "verify", files, database: request.location, packages, roots, most: request.limit },
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

/** Deletes packages because of their age, or only lists them. */
export async function prune(
  request: EvidenceRequest,
  job: Job,
  { olderThan, dryRun }: { readonly olderThan: number; readonly dryRun: boolean },
): Promise<PruneResult> {
  // A folder that is not there, or hangs, is found before a thread is started.
  await request.openFiles();
  const { files, location: database, limit: most } = request;
  const before = Date.now() - olderThan * dayMs;
  const { first, ...report } = await runInThread(
    { action: "prune", files, database, before, dryRun, most },
    { signal: job.signal, onProgress: showProgress(job) },
  );
  return { ...report, packages: [...first], before: new Date(before).toISOString(), dryRun };
}

/** Reads how much work the store has left, and how much space. */
export function stateOf({ files, lease, location }: EvidenceRequest): Promise<StoreState> {
  return readStoreState({ database: lease.database, kind: location.kind, files });
}

/** Exports packages as a ZIP with reports. */
export async function exportEvidence(
  request: EvidenceRequest,
  job: Job,
  options: { readonly language: Language; readonly target: ExportTarget },
): Promise<ExportResult> {
  const source = await sourceOf(request);
  const found = await demandPackages(source, request);
  const packages = await withNext(source.database, found);
  const { files, roots } = request;
  return runInThread(
    { action: "export", files, packages, roots, ...options },
    { signal: job.signal, onProgress: showProgress(job, "bytes") },
  );
}

/**
 * The message without the parcel that it is about, for messages about others: archive would put what it reads from it into their packages.
 */
export function withoutParcel(msg: Message): Message {
  const others = { ...msg };
  for (const name of [...inputProperties, "error", "resumed"] as const) {
    delete others[name];
  }
  return others;
}

/** Opens the packages. Throws ERR_FILE. */
export async function sourceOf({
  operation,
  lease,
  openFiles,
}: Pick<EvidenceRequest, "operation" | "lease" | "openFiles">): Promise<EvidenceSource> {
  return { database: lease.database, files: await openFiles(), operation: operation.operation };
}

function showProgress(
  { status }: Job,
  unit: "bytes" | "packages" = "packages",
): (progress: ArchiveProgress) => void {
  let shownAt = performance.now();
  return ({ packages: count, bytes, expectedPackages: total, expectedBytes }) => {
    const now = performance.now();
    if (now - shownAt < progressEveryMs) {
      return;
    }
    shownAt = now;
    if (unit === "bytes" && expectedBytes !== null) {
      status.say("working", "downloading", { done: { bytes }, total: { bytes: expectedBytes } });
    } else if (total === null) {
      status.say("working", "packages", { count });
    } else {
      status.say("working", "packagesOf", { count, total });
    }
  };
}
