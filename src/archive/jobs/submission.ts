import type { Archived } from "../packages/packages.ts";
import type { RunningJob } from "./running-job.ts";

interface SubmissionFacts {
  readonly ended: Promise<Archived>;
  /** The same job had been taken before. */
  readonly isRepeated: boolean;
  readonly running?: RunningJob;
  readonly isResumed?: boolean;
  readonly onMessageSent?: () => void;
}

/** A message and the job that it was accepted for. */
export class Submission {
  readonly running: RunningJob | undefined;
  readonly isResumed: boolean;
  /** False for a part of a sequence whose message is that of a later part. */
  sendsMessage = true;
  readonly #facts: SubmissionFacts;

  constructor(facts: SubmissionFacts) {
    this.#facts = facts;
    this.running = facts.running;
    this.isResumed = facts.isResumed === true;
  }

  /** The package, or the error that ended the job; `wasThere` where another message had it made. */
  async end(): Promise<Archived> {
    const archived = await this.#facts.ended;
    return this.#facts.isRepeated ? { ...archived, wasThere: true } : archived;
  }

  /** To be called once the message is out: the job needs no restart any more. */
  messageSent(): void {
    this.#facts.onMessageSent?.();
  }
}
