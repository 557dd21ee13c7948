import type { DimensionerError } from "../../errors/dimensioner-error.ts";
import type { IntentTexts } from "../packages/intent.ts";
import type { Archived } from "./sealing.ts";
import type { RunningJob } from "./running-job.ts";

interface SubmissionFacts {
  readonly ended: Promise<Archived>;
  /** The same job had been taken before. */
  readonly isRepeated: boolean;
  readonly running?: RunningJob;
  readonly isResumed?: boolean;
  /** The message properties that its job has kept. */
  readonly kept?: () => Promise<IntentTexts["keep"] | undefined>;
  readonly onMessageSent?: (error?: DimensionerError) => void;
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

  /** Whether its message is a part of a sequence whose media make one package. */
  get isOfSequence(): boolean {
    return typeof this.running?.job.intent.sequence === "string";
  }

  /** The package, or the error that ended the job; `wasThere` where another message had it made. */
  async end(): Promise<Archived> {
    const archived = await this.#facts.ended;
    return this.#facts.isRepeated ? { ...archived, wasThere: true } : archived;
  }

  /** The message properties that were kept for a restart. Rejects with ERR_STORE. */
  async kept(): Promise<IntentTexts["keep"] | undefined> {
    return await this.#facts.kept?.();
  }

  /** To be called once the message is out, or has ended in an error: the job needs no restart any more. */
  messageSent(error?: DimensionerError): void {
    this.#facts.onMessageSent?.(error);
  }
}
