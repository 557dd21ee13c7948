import type { Archived } from "../packages/packages.ts";
import type { RunningJob } from "./running-job.ts";

interface TicketFacts {
  readonly ended: Promise<Archived>;
  /** The same job had been taken before. */
  readonly isAgain: boolean;
  readonly running?: RunningJob;
  readonly isResumed?: boolean;
  readonly report?: () => void;
}

/** What one message has in hand for its job. */
export class Ticket {
  readonly running: RunningJob | undefined;
  readonly isResumed: boolean;
  /** False for a part of a sequence whose message is that of a later part. */
  isSpeaker = true;
  readonly #facts: TicketFacts;

  constructor(facts: TicketFacts) {
    this.#facts = facts;
    this.running = facts.running;
    this.isResumed = facts.isResumed === true;
  }

  /** The package, or the error that ended the job; `wasThere` where another message had it made. */
  async end(): Promise<Archived> {
    const archived = await this.#facts.ended;
    return this.#facts.isAgain ? { ...archived, wasThere: true } : archived;
  }

  /** To be called once the message is out: the job needs no restart any more. */
  report(): void {
    this.#facts.report?.();
  }
}
