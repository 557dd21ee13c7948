import type { DimensionerError } from "../../errors/dimensioner-error.ts";
import { unlessAborted } from "../../media/disk.ts";
import { diskFacts } from "../../vault/archive-disk.ts";
import type { IntentTexts } from "../../vault/packages/intent.ts";
import { RunningJob } from "../run/running-job.ts";
import type { Archived } from "../seal/job-results.ts";

/** The runner of a message's job. */
export interface SubmissionOwner {
  /** Reads the message properties that a job has kept. Rejects with ERR_STORE. */
  kept(jobId: string): Promise<IntentTexts["keep"] | undefined>;
  /** To be called when the job's message was sent, or has ended in an error. */
  messageSent(running: RunningJob, error?: DimensionerError): void;
}

interface SubmissionFacts {
  /** For a repeated message: aborts when its own node closes, although the job may continue in another one. */
  readonly repeatedUntil?: AbortSignal;
  readonly isResumed?: boolean;
  /** Missing if the message is not that of the job. */
  readonly owner?: SubmissionOwner;
}

/** A message and its job, or the existing package. */
export class Submission {
  readonly isResumed: boolean;
  /** False for a part of a sequence if a later part carries the message. */
  sendsMessage = true;
  /** Whether its message is a part of a sequence whose media form one package. */
  isOfSequence: boolean;
  readonly #job: Archived | RunningJob;
  readonly #repeatedUntil: AbortSignal | undefined;
  readonly #owner: SubmissionOwner | undefined;

  constructor(job: Archived | RunningJob, { repeatedUntil, isResumed = false, owner }: SubmissionFacts) {
    this.#job = job;
    this.#repeatedUntil = repeatedUntil;
    this.#owner = owner;
    this.isResumed = isResumed;
    this.isOfSequence = typeof this.running?.job.intent.sequence === "string";
  }

  /** The job; undefined if the package existed before. */
  get running(): RunningJob | undefined {
    return this.#job instanceof RunningJob ? this.#job : undefined;
  }

  /**
   * Resolves with the package, or rejects with the error of the job; `wasThere` if another message has caused the
   * package.
   */
  end(): Promise<Archived> {
    const job = this.#job;
    if (this.#repeatedUntil === undefined) {
      return job instanceof RunningJob ? job.end.promise : Promise.resolve(job);
    }
    return this.#endOfOther(job, this.#repeatedUntil);
  }

  async #endOfOther(job: Archived | RunningJob, signal: AbortSignal): Promise<Archived> {
    const archived =
      job instanceof RunningJob ? await unlessAborted(job.end.promise, { ...diskFacts, signal }) : job;
    return { ...archived, wasThere: true };
  }

  /** Reads the message properties that were kept for a restart. Rejects with ERR_STORE. */
  async kept(): Promise<IntentTexts["keep"] | undefined> {
    return this.running === undefined ? undefined : await this.#owner?.kept(this.running.job.id);
  }

  /** To be called when the message was sent, or has ended in an error: the job is not resumed any more. */
  messageSent(error?: DimensionerError): void {
    if (this.running !== undefined) {
      this.#owner?.messageSent(this.running, error);
    }
  }
}
