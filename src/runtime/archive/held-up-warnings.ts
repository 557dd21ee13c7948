import type { Node, NodeAPI } from "node-red";
import { DueTimes } from "../../jobs/run/due-times.ts";
import { missingFrom } from "../../jobs/steps/completeness.ts";
import type { FindMissing } from "../../jobs/steps/media-source.ts";
import type { RunningJob } from "../../jobs/run/running-job.ts";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import type { HeldUp } from "../../model/shapes.ts";
import { translateError } from "../status/translate.ts";
import type { ArchiveStatus } from "./archive-status.ts";

interface WarningOptions {
  readonly findMissing: FindMissing;
  /** The time after which a job is reported; 0: never. Throws ERR_CONFIG if that is not a number. */
  readonly afterMs: () => number;
  /** Reads the message properties that a job has kept. */
  readonly keptOf: (jobId: string) => Promise<Readonly<Record<string, unknown>>>;
  readonly say: ArchiveStatus["say"];
}

/**
 * Tells once, on the node's second output, of each job that is still not archived after a while: what keeps it from going on, or what it
 * waits for. A job that is just downloading is told of when it waits the next time. The parcel's own message still ends as every
 * message does.
 */
export class HeldUpWarnings {
  readonly #RED: NodeAPI;
  readonly #node: Pick<Node, "send" | "warn">;
  readonly #options: WarningOptions;
  readonly #waiting = new DueTimes<RunningJob>((running) => {
    this.#due.add(running);
    this.#tell(running);
  });
  readonly #due = new Set<RunningJob>();
  readonly #told = new WeakSet<RunningJob>();
  #isClosed = false;

  constructor(RED: NodeAPI, node: Pick<Node, "send" | "warn">, options: WarningOptions) {
    this.#RED = RED;
    this.#node = node;
    this.#options = options;
  }

  /** Something about a job has changed. */
  update(running: RunningJob): void {
    if (running.hasEnded || this.#isClosed) {
      this.#forget(running);
    } else if (this.#due.has(running)) {
      this.#tell(running);
    } else if (!this.#waiting.has(running) && !this.#told.has(running)) {
      this.#begin(running);
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#waiting.clear();
    this.#due.clear();
  }

  #begin(running: RunningJob): void {
    const afterMs = this.#options.afterMs();
    if (afterMs === 0) {
      return;
    }
    this.#waiting.set(running, running.job.sinceMs + afterMs);
  }

  #tell(running: RunningJob): void {
    if (running.state === "working") {
      return;
    }
    this.#forget(running);
    this.#told.add(running);
    const { transactionId, intent } = running.job;
    const heldUpFor = Math.round(openMsOf(running) / 1000);
    const error = running.trouble ?? this.#whatIsMissing(running, heldUpFor);
    const { code, message } = translateError(this.#RED, error);
    const { transactionReference } = intent.references;
    if (running.trouble === undefined) {
      // What holds jobs up is in the log already.
      const id = transactionReference ?? transactionId ?? "";
      const values = { id, minutes: Math.round(heldUpFor / 60), cause: message };
      this.#node.warn(this.#options.say("stillWaiting", values));
    }
    const heldUp = {
      transactionId,
      transactionReference,
      device: intent.device,
      reason: { code, message },
      heldUpFor,
    };
    // A timer calls this: nothing above would catch an error, and it would end Node-RED.
    this.#send(running, heldUp).catch((error: unknown) => this.#node.warn(String(error)));
  }

  async #send({ job }: RunningJob, payload: HeldUp): Promise<void> {
    const kept = await this.#options.keptOf(job.id);
    if (!this.#isClosed) {
      this.#node.send([null, { _msgid: this.#RED.util.generateId(), ...kept, payload }]);
    }
  }

  #whatIsMissing(running: RunningJob, seconds: number): DimensionerError {
    const missing = missingFrom(running.seen, this.#options.findMissing);
    return new DimensionerError(
      "mediaIncomplete",
      { surface: "disk", operation: "archive" },
      { seconds, missing },
    );
  }

  #forget(running: RunningJob): void {
    this.#waiting.delete(running);
    this.#due.delete(running);
  }
}

function openMsOf({ job }: RunningJob): number {
  return performance.now() - job.sinceMs;
}
