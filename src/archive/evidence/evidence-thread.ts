/** The thread of one long action on an archive: its hashing takes none of the time of Node-RED's event loop. */
import { isMainThread, parentPort, workerData, type MessagePort } from "node:worker_threads";
import { databaseText, type DatabaseLocation } from "../../store/database-location.ts";
import { isDimensionerError } from "../../errors/dimensioner-error.ts";
import type { ArchiveProgress, Finding, PrunedPackage } from "../../model/archive-reports.ts";
import { exportPackages, streamExport } from "../export/export-packages.ts";
import { pruneArchive, verifyArchive } from "../maintenance/commands.ts";
import { BlockSender } from "./block-sender.ts";
import type { EvidenceAnswer, EvidenceResult, EvidenceTask, ThreadRequest } from "./thread-messages.ts";
import { verifyPackages } from "./verify-packages.ts";

if (!isMainThread && parentPort !== null) {
  await serve(parentPort, workerData as EvidenceTask);
}

async function serve(port: MessagePort, task: EvidenceTask): Promise<void> {
  const stopping = new AbortController();
  const answer = (message: EvidenceAnswer): void => port.postMessage(message);
  const stream = new BlockSender(answer, stopping.signal);
  port.on("message", (request: ThreadRequest) => {
    if (request === "stop") {
      stopping.abort();
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

async function run(
  task: EvidenceTask,
  {
    onProgress,
    signal,
    stream,
  }: { onProgress: (progress: ArchiveProgress) => void; signal: AbortSignal; stream: BlockSender },
): Promise<EvidenceResult> {
  if (task.action === "export" || task.action === "stream") {
    const { root, packages, language, roots } = task;
    const timestampRoots = roots === "" ? undefined : roots;
    if (task.action === "stream") {
      const options = { language, timestampRoots, onProgress, signal };
      return { verification: await streamExport(root, packages, options, stream) };
    }
    const { target } = task;
    return exportPackages(root, packages, { language, target, timestampRoots, onProgress, signal });
  }
  const { root } = task;
  const database = openable(task.database);
  if (task.action === "prune") {
    const { add, first } = collector<PrunedPackage>(task.most);
    const options = { before: new Date(task.before), dryRun: task.dryRun, database, onProgress, signal };
    const report = await pruneArchive(root, { ...options, onPackage: add });
    return { ...report, first };
  }
  const { add, first } = collector<Finding>(task.most);
  const timestampRoots = task.roots === "" ? undefined : task.roots;
  const options = { onFinding: add, onProgress, signal, timestampRoots };
  const report =
    task.packages === null
      ? // Node-RED itself needs a core.
        await verifyArchive(root, { ...options, database, mayUseThread: false })
      : await verifyPackages(root, task.packages, options);
  return { ...report, first };
}

/** The database as the commands name it. A password, which they never take, is in the environment of this thread alone. */
function openable(location: DatabaseLocation): string {
  if (location.kind === "postgres" && location.address.password !== "") {
    process.env["PGPASSWORD"] = location.address.password;
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
