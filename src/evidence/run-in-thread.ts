import { DimensionerError } from "../errors/dimensioner-error.ts";
import { phrase, verbatim } from "../errors/interpolation.ts";
import type { ArchiveProgress } from "../model/archive-reports.ts";
import type { ExportHead, ExportStream } from "./export/export-packages.ts";
import { startThread } from "../database/start-thread.ts";
import type {
  EvidenceAnswer,
  EvidenceResult,
  EvidenceResults,
  EvidenceTask,
  ThreadRequest,
} from "./thread-messages.ts";

/** A thread whose disk does not answer ends without having finished. */
const stopWithinMs = 5_000;

export interface ThreadOptions {
  readonly onProgress: (progress: ArchiveProgress) => void;
  /** Aborting ends the action with ERR_CANCELLED, a few seconds later if the disk does not answer. */
  readonly signal: AbortSignal;
  /** Takes the ZIP of a streamed export. If a write is rejected, the export ends with ERR_CANCELLED. */
  readonly stream?: ExportStream;
}

/** An answer after which nothing follows. */
type LastAnswer = Exclude<
  EvidenceAnswer,
  { progress: ArchiveProgress } | { begun: ExportHead } | { block: Uint8Array }
>;

/**
 * Runs a long action in a thread of its own. Rejects with ERR_FILE, ERR_STORE or ERR_CANCELLED; resolves or rejects
 * only when the thread has ended.
 */
export async function runInThread<T extends EvidenceTask>(
  task: T,
  { onProgress, signal, stream }: ThreadOptions,
): Promise<EvidenceResults[T["action"]]> {
  const operation = task.action === "stream" ? "export" : task.action;
  const facts = { surface: "disk", operation } as const;
  if (signal.aborted) {
    throw new DimensionerError("cancelledClose", facts);
  }
  const worker = startThread("src/evidence/evidence-thread", task);
  let ended: LastAnswer | undefined;
  let timer: NodeJS.Timeout | undefined;
  let hasEnded = false;
  const stop = (): void => {
    if (hasEnded) {
      return;
    }
    worker.postMessage("stop" satisfies ThreadRequest);
    timer ??= setTimeout(() => void worker.terminate(), stopWithinMs);
  };
  const pass = async (block: Uint8Array): Promise<void> => {
    try {
      await stream?.write(block);
      worker.postMessage("more" satisfies ThreadRequest);
    } catch {
      stop();
    }
  };
  signal.addEventListener("abort", stop);
  try {
    await new Promise<void>((resolve) => {
      worker.on("message", (answer: EvidenceAnswer) => {
        if ("progress" in answer) {
          onProgress(answer.progress);
        } else if ("begun" in answer) {
          stream?.begin(answer.begun);
        } else if ("block" in answer) {
          void pass(answer.block);
        } else {
          ended = answer;
        }
      });
      worker.on("error", (error) => {
        ended = { problem: String(error) };
      });
      worker.once("exit", () => resolve());
    });
  } finally {
    hasEnded = true;
    signal.removeEventListener("abort", stop);
    clearTimeout(timer);
  }
  return resultOf(ended, facts, signal) as EvidenceResults[T["action"]];
}

function resultOf(
  ended: LastAnswer | undefined,
  facts: { readonly surface: "disk"; readonly operation: string },
  signal: AbortSignal,
): EvidenceResult {
  if (ended !== undefined && "result" in ended) {
    return ended.result;
  }
  if (signal.aborted) {
    throw new DimensionerError("cancelledClose", facts);
  }
  if (ended !== undefined && "failure" in ended) {
    throw new DimensionerError(ended.failure.sentence, ended.failure.facts, ended.failure.values);
  }
  const problem = ended === undefined ? phrase("unknownCause") : verbatim(ended.problem);
  throw new DimensionerError("evidenceFailed", facts, { problem });
}
