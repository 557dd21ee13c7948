import type { DatabaseLocation } from "../database/database.ts";
import { startThread } from "../database/start-thread.ts";
import { DimensionerError, type FailureFacts } from "../errors/dimensioner-error.ts";
import { type Values, phrase, verbatim } from "../errors/interpolation.ts";
import type { SentenceKey } from "../errors/sentences.ts";
import type {
  ArchiveProgress,
  Finding,
  PruneReport,
  PrunedPackage,
  VerifyReport,
} from "../model/archive-reports.ts";
import type { VerifyResult } from "../model/shapes.ts";
import type { Language } from "../rules/languages.ts";
import type { VaultLocation } from "../vault/store.ts";
import type { ProvenPackage } from "../vault/log/package-proof.ts";
import type { NotedPackage } from "./packages.ts";
import type {
  AddressedTo,
  ExportHead,
  ExportResult,
  ExportStream,
  ExportTarget,
} from "./export/export-packages.ts";

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

/** What a thread of its own does, so that hashing holds up no flow. It opens the files of the store itself. */
export type EvidenceTask =
  | {
      readonly action: "verify";
      readonly vault: VaultLocation;
      /** The database; the whole archive is verified with it if no packages are named. */
      readonly database: DatabaseLocation;
      readonly packages: readonly ProvenPackage[] | null;
      /** For how long the packages of the whole archive are verified; undefined: until all were. */
      readonly forMs?: number | undefined;
      /** A PEM file with the root certificates that signers are checked against; blank: none. */
      readonly roots: string;
      /** How many findings are returned. */
      readonly most: number;
    }
  | {
      readonly action: "prune";
      readonly vault: VaultLocation;
      readonly database: DatabaseLocation;
      /** Milliseconds since 1970. */
      readonly before: number;
      /** In bytes; undefined: the age alone decides. */
      readonly keepFree: number | undefined;
      readonly useAtMost: number | undefined;
      readonly dryRun: boolean;
      readonly despiteClock: boolean;
      /** How many packages are returned. */
      readonly most: number;
    }
  | {
      readonly action: "export";
      readonly vault: VaultLocation;
      readonly packages: readonly ProvenPackage[];
      readonly language: Language;
      /** A file with trusted certificates for time stamps; blank: none. */
      readonly roots: string;
      readonly target: ExportTarget;
      readonly addressed?: AddressedTo;
    }
  | {
      readonly action: "stream";
      readonly vault: VaultLocation;
      readonly packages: readonly ProvenPackage[];
      readonly language: Language;
      readonly roots: string;
      readonly addressed?: AddressedTo;
    };

/** The tasks with these actions. */
export type EvidenceTaskOf<Action extends EvidenceTask["action"]> = Extract<
  EvidenceTask,
  { readonly action: Action }
>;

/**
 * `stop` ends the task: a verification or an export between two blocks of a file, a deletion between two packages. `more` says
 * that a block of a streamed export was taken.
 */
export type ThreadRequest = "stop" | "more";

/** The result of each task, with the first of its findings or packages. */
export interface EvidenceResults {
  readonly verify: VerifyReport & {
    readonly first: readonly Finding[];
    /** Of packages that were named. */
    readonly verified: readonly NotedPackage[];
  };
  readonly prune: PruneReport & { readonly first: readonly PrunedPackage[] };
  readonly export: ExportResult;
  readonly stream: { readonly verification: VerifyResult };
}

export type EvidenceResult = EvidenceResults[EvidenceTask["action"]];

/** What the thread answers: how far it is, and how it ended. An error class does not survive the way between threads. */
export type EvidenceAnswer =
  | { readonly progress: ArchiveProgress }
  | { readonly begun: ExportHead }
  | { readonly block: Uint8Array }
  | { readonly result: EvidenceResult }
  | {
      readonly failure: {
        readonly sentence: SentenceKey;
        readonly values: Values;
        readonly facts: Pick<FailureFacts, "operation" | "surface">;
      };
    }
  | { readonly problem: string };

/** Enough that neither thread waits for the other, and little memory if the reader is slow. */
const mostUnderway = 4;

/** Sends a ZIP to another thread, as fast as that one takes it. */
export class BlockSender implements ExportStream {
  readonly #answer: (message: EvidenceAnswer) => void;
  readonly #signal: AbortSignal;
  #underway = 0;
  #onTaken: (() => void) | undefined;

  constructor(answer: (message: EvidenceAnswer) => void, signal: AbortSignal) {
    this.#answer = answer;
    this.#signal = signal;
  }

  begin(begun: ExportHead): void {
    this.#answer({ begun });
  }

  /** Rejects with the signal's reason. */
  async write(block: Uint8Array): Promise<void> {
    while (this.#underway >= mostUnderway && !this.#signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#onTaken = resolve;
      });
    }
    this.#signal.throwIfAborted();
    this.#underway += 1;
    this.#answer({ block });
  }

  /** To be called when the other thread has taken a block, and when the signal was aborted. */
  taken(): void {
    this.#underway -= 1;
    this.#onTaken?.();
  }
}
