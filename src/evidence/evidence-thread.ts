/** The thread of one long action on an archive: its hashing takes none of the time of Node-RED's event loop. */
import { type MessagePort, isMainThread, parentPort, workerData } from "node:worker_threads";
import { type DatabaseLocation, databaseText } from "../database/database.ts";
import { encryptInThread } from "../database/postgres-address.ts";
import { DimensionerError, isDimensionerError } from "../errors/dimensioner-error.ts";
import type { ArchiveProgress, Finding, PrunedPackage } from "../model/archive-reports.ts";
import { pruneArchive, verifyArchive } from "../vault/upkeep/upkeep.ts";
import type { Vault } from "../vault/vault.ts";
import { openVault } from "../vault/open-vault.ts";
import { exportPackages, streamExport } from "./export/export-packages.ts";
import { verifyPackages } from "./packages.ts";
import {
  BlockSender,
  type EvidenceAnswer,
  type EvidenceResult,
  type EvidenceTask,
  type EvidenceTaskOf,
  type ThreadRequest,
} from "./run-in-thread.ts";

if (!isMainThread && parentPort !== null) {
  await serve(parentPort, workerData as EvidenceTask);
}

interface Work {
  readonly onProgress: (progress: ArchiveProgress) => void;
  /** Aborting it also ends all requests to a bucket. */
  readonly signal: AbortSignal;
  readonly stream: BlockSender;
}

async function serve(port: MessagePort, task: EvidenceTask): Promise<void> {
  const stopping = new AbortController();
  const answer = (message: EvidenceAnswer): void => port.postMessage(message);
  const stream = new BlockSender(answer, stopping.signal);
  port.on("message", (request: ThreadRequest) => {
    if (request === "stop") {
      stopping.abort(new DimensionerError("cancelledClose", { surface: "disk", operation: task.action }));
    }
    stream.taken();
  });
  try {
    const onProgress = (progress: ArchiveProgress): void => answer({ progress });
    const result = await run(task, { onProgress, signal: stopping.signal, stream });
    port.postMessage({ result } satisfies EvidenceAnswer, memoryOf(result));
  } catch (error) {
    answer(explain(error));
  } finally {
    port.close();
  }
}

function run(task: EvidenceTask, work: Work): Promise<EvidenceResult> {
  switch (task.action) {
    case "export":
    case "stream":
      return runExport(task, work);
    case "prune":
      return prune(task, work);
    case "verify":
      return verify(task, work);
  }
}

async function runExport(
  task: EvidenceTaskOf<"export" | "stream">,
  { onProgress, signal, stream }: Work,
): Promise<EvidenceResult> {
  const { packages, language, addressed } = task;
  const options = { language, ...addressed, timestampRoots: rootsOf(task), onProgress, signal };
  return withFiles(task, signal, async (vault) =>
    task.action === "stream"
      ? { verification: await streamExport(vault, packages, options, stream) }
      : exportPackages(vault, packages, { ...options, target: task.target }),
  );
}

async function prune(
  { vault, database, before, keepFree, useAtMost, dryRun, despiteClock, most }: EvidenceTaskOf<"prune">,
  { onProgress, signal }: Work,
): Promise<EvidenceResult> {
  const { add, first } = collector<PrunedPackage>(most);
  const rule = { before: new Date(before), keepFree, useAtMost };
  const options = { ...rule, dryRun, despiteClock, database: openable(database), onProgress, signal };
  return { ...(await pruneArchive(vault, { ...options, onPackage: add })), first };
}

async function verify(task: EvidenceTaskOf<"verify">, { onProgress, signal }: Work): Promise<EvidenceResult> {
  const { packages, most } = task;
  const { add, first } = collector<Finding>(most);
  const options = { onFinding: add, onProgress, signal };
  const report =
    packages === null
      ? // Node-RED itself needs a core.
        await verifyArchive(task.vault, {
          ...options,
          forMs: task.forMs,
          timestampRoots: rootsOf(task),
          database: openable(task.database),
          mayUseThread: false,
          mayBlock: true,
        })
      : await withFiles(task, signal, (vault) => verifyPackages(vault, packages, options));
  return { verified: [], ...report, first };
}

async function withFiles<T>(
  { vault: location }: Pick<EvidenceTask, "vault">,
  signal: AbortSignal,
  work: (vault: Vault) => Promise<T>,
): Promise<T> {
  const vault = await openVault(location, { signal });
  try {
    return await work(vault);
  } finally {
    await vault.close();
  }
}

function rootsOf({ roots }: { readonly roots: string }): string | undefined {
  return roots === "" ? undefined : roots;
}

/**
 * The database as the command-line tools name it. A password and certificates, which an address cannot contain, are in the environment of
 * this thread alone.
 */
function openable(location: DatabaseLocation): string {
  if (location.kind === "postgres") {
    const { password, tls } = location.address;
    if (password !== "") {
      process.env["PGPASSWORD"] = password;
    }
    if (tls !== undefined) {
      encryptInThread(tls);
    }
  }
  return databaseText(location);
}

/** What is handed over instead of being copied: an export in memory can be large. */
function memoryOf(result: EvidenceResult): ArrayBuffer[] {
  return "output" in result && "content" in result.output ? [result.output.content.buffer] : [];
}

/** Collects the first of what is found; a million findings must not fill the memory. */
function collector<T>(most: number): { readonly first: T[]; readonly add: (one: T) => void } {
  const first: T[] = [];
  return { first, add: (one) => void (first.length < most && first.push(one)) };
}

function explain(error: unknown): EvidenceAnswer {
  if (!isDimensionerError(error)) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
  const { sentence, values, details } = error;
  return { failure: { sentence, values, facts: { surface: details.surface, operation: details.operation } } };
}
