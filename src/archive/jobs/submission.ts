import type { DimensionerError } from "../../errors/dimensioner-error.ts";
import { unlessAborted } from "../../media/disk.ts";
import { diskFacts } from "../archive-disk.ts";
import type { IntentTexts } from "../packages/intent.ts";
import { RunningJob } from "./running-job.ts";
import type { Archived } from "./sealing.ts";

/** Whose job a message is. */
export interface SubmissionOwner {
  /** The message properties that a job has kept. Rejects with ERR_STORE. */
  kept(jobId: string): Promise<IntentTexts["keep"] | undefined>;
  /** The job's message is out, or has ended in an error. */
  messageSent(running: RunningJob, error?: DimensionerError): void;
}

interface SubmissionFacts {
  /** Of a message for a job that had been taken before: aborts when its own node closes, also where the job goes on in another one. */
  readonly repeatedUntil?: AbortSignal;
  readonly isResumed?: boolean;
  /** None where the message is not that of the job. */
  readonly owner?: SubmissionOwner;
}

/** A message and the job that it was accepted for, or the package that there was for it. */
export class Submission {
  readonly isResumed: boolean;
  /** False for a part of a sequence whose message is that of a later part. */
  sendsMessage = true;
  readonly #job: Archived | RunningJob;
  readonly #repeatedUntil: AbortSignal | undefined;
  readonly #owner: SubmissionOwner | undefined;

  constructor(job: Archived | RunningJob, { repeatedUntil, isResumed = false, owner }: SubmissionFacts) {
    this.#job = job;
    this.#repeatedUntil = repeatedUntil;
    this.#owner = owner;
    this.isResumed = isResumed;
  }

  /** The job; undefined where the package was there. */
  get running(): RunningJob | undefined {
    return this.#job instanceof RunningJob ? this.#job : undefined;
  }

  /** Whether its message is a part of a sequence whose media make one package. */
  get isOfSequence(): boolean {
    return typeof this.running?.job.intent.sequence === "string";
  }

  /** The package, or the error that ended the job; `wasThere` where another message had it made. */
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

  /** The message properties that were kept for a restart. Rejects with ERR_STORE. */
  async kept(): Promise<IntentTexts["keep"] | undefined> {
    return this.running === undefined ? undefined : await this.#owner?.kept(this.running.job.id);
  }

  /** To be called once the message is out, or has ended in an error: the job needs no restart any more. */
  messageSent(error?: DimensionerError): void {
    if (this.running !== undefined) {
      this.#owner?.messageSent(this.running, error);
    }
  }
}
