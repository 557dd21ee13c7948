import type { NodeAPI } from "node-red";
import { diskFacts } from "../../vault/archive-disk.ts";
import type { Submission } from "../../jobs/accept/submission.ts";
import { TaskQueue } from "../../jobs/run/task-queue.ts";
import type { Archived } from "../../jobs/seal/job-results.ts";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import type { Job } from "../action/serve.ts";
import type { ValueReader } from "../action/values.ts";
import type { Message, Outputs } from "../messages.ts";
import type { IntentProperties } from "./archive-intent.ts";
import { describePackage } from "./archive-node.ts";
import type { ArchiveStatus } from "./archive-status.ts";
import type { HeldUpWarnings } from "./held-up-warnings.ts";
import { putBack, putListed } from "./send-again.ts";

interface MessagesOptions {
  readonly RED: NodeAPI;
  readonly properties: IntentProperties;
  /** Hands a message to the archive; resolves once its job is in the database. */
  readonly submit: (job: Job) => Promise<Submission>;
  /** Reads what settings say of a message. */
  readonly valuesOf: (msg: Message) => ValueReader;
  readonly status: ArchiveStatus;
  readonly warnings: HeldUpWarnings;
  /** The address of a package on the evidence page; null if there is none. */
  readonly linkTo: (packageId: string) => string | null;
}

/** Enough that they share the database's syncs; a message that waits for its turn takes no memory beside itself. */
const acceptedAtOnce = 64;
/** As many as there may be open jobs, and as many more as any other node processes. */
export const mostMessages = 11_000;

/** The messages of an archive node: each is handed to the archive, waits for its job, and ends as the job does. */
export class ArchiveMessages {
  readonly #options: MessagesOptions;
  readonly #accepting = new TaskQueue(acceptedAtOnce);
  readonly #waiting = new Set<Submission>();
  /** Jobs that were open at the start come in like messages, so that they end like messages. */
  readonly #resumed = new WeakMap<object, Submission>();

  constructor(options: MessagesOptions) {
    this.#options = options;
  }

  /** Says which open job a message is about. */
  resume(msg: Message, submission: Submission): void {
    this.#resumed.set(msg, submission);
  }

  wasAccepted(msg: Message): boolean {
    return this.#resumed.has(msg);
  }

  /** Ends the jobs that wait for something. */
  reset(): void {
    this.#waiting.forEach(({ running }) => running?.drop());
  }

  /** Takes one message; what is returned goes out. Throws what ends the message in an error. */
  async take(job: Job): Promise<Outputs> {
    const { status, warnings } = this.#options;
    status.nodeStatus = job.status;
    const submission = this.#resumed.get(job.msg) ?? (await this.#accept(job));
    // The message may be sent again.
    this.#resumed.delete(job.msg);
    const { running } = submission;
    status.update(running);
    if (running !== undefined) {
      warnings.update(running);
    }
    this.#waiting.add(submission);
    // The reset may have come while the job was being accepted.
    if (job.waitSignal.aborted) {
      running?.drop();
    }
    try {
      const archived = await submission.end();
      throwIfKept(submission, job);
      const outputs = this.#outputsOf(submission, archived, job);
      endWhenSent(submission, job);
      return outputs;
    } catch (thrown) {
      throwIfKept(submission, job);
      const error = await this.#endOf(submission, job, thrown);
      // It may have been closed meanwhile.
      throwIfKept(submission, job);
      const isKept = error instanceof DimensionerError && error.sentence === "cancelledKept";
      if (!isKept) {
        endWhenSent(submission, job, error instanceof DimensionerError ? error : undefined);
      }
      const isOfCloud = running?.job.intent.origin !== null && !submission.isOfSequence;
      if (isOfCloud && error instanceof DimensionerError && error.code === "ERR_MEDIA_INCOMPLETE") {
        putListed(job.msg, running?.seen.listed ?? [], this.#options.properties);
      }
      throw error;
    } finally {
      this.#waiting.delete(submission);
    }
  }

  async #accept(job: Job): Promise<Submission> {
    return await new Promise((resolve, reject) => {
      const run = (): Promise<void> => this.#submit(job).then(resolve, reject);
      this.#accepting.add({ run });
    });
  }

  /** The node may have been closed before the message's turn came: what it needs is gone by then. */
  async #submit(job: Job): Promise<Submission> {
    if (job.signal.aborted) {
      throw new DimensionerError("cancelledClose", diskFacts);
    }
    return await this.#options.submit(job);
  }

  /** Makes the message ready for being sent again, and returns the error that says whether it may. */
  async #endOf({ running, isResumed }: Submission, { msg }: Job, error: unknown): Promise<unknown> {
    const isLeft = isResumed && running !== undefined;
    return isLeft ? await putBack(msg, running, { ...this.#options, error }) : error;
  }

  #outputsOf(submission: Submission, archived: Archived, job: Job): Outputs {
    if (!submission.sendsMessage) {
      return [];
    }
    const { msg } = job;
    const payload = describePackage(archived, this.#options.linkTo);
    Object.assign(msg, { payload, filename: payload.manifest });
    if (submission.isOfSequence) {
      delete msg["parts"];
    }
    const done = payload.files.length === 0 ? "archivedWithoutMedia" : "archived";
    const key = archived.wasThere ? "alreadyArchived" : done;
    job.status.show("done", () => this.#options.status.say(key, { size: { bytes: payload.bytes } }));
    return [msg, null];
  }
}

/**
 * Throws if the node was closed before the job had ended, with its package or an error: it ends anew after the start, as a
 * message of its own. This is no promise, because each waiting job would keep it in memory.
 */
function throwIfKept({ running }: Submission, { signal }: Job): void {
  if (signal.aborted && running !== undefined) {
    throw new DimensionerError("cancelledKept", diskFacts);
  }
}

/**
 * Ends the job when the flow has received its message, unless the node was closed at this very moment: then it goes out after the
 * start. The note comes behind the message in the same turn of the event loop. In front of it, a kill between the two would lose the
 * message; a turn later, a deploy in between would have it sent twice.
 */
function endWhenSent(submission: Submission, job: Job, error?: DimensionerError): void {
  job.onSent = () =>
    setImmediate(() => {
      if (!job.signal.aborted && submission.sendsMessage) {
        submission.messageSent(error);
      }
    });
}
