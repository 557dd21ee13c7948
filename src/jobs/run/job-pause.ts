import type { CollectedMedia } from "../steps/collected-media.ts";
import type { Pause } from "../steps/job-work.ts";
import type { JobStore } from "../steps/job-store.ts";

/** By how much a timer may be late. */
const lateMs = 1_000;

/** The pauses of a job between two rounds or after a failure, and how long it has waited in them. */
export class JobPause {
  readonly #seen: CollectedMedia;
  #why: Pause["why"] | undefined;
  #sinceMs = 0;
  #againInMs = 0;
  #savedMs: number;

  constructor(seen: CollectedMedia) {
    this.#seen = seen;
    this.#savedMs = seen.job.waitedMs;
  }

  /** Why the job pauses; undefined while it does not. */
  get why(): Pause["why"] | undefined {
    return this.#why;
  }

  begin({ why, againInMs }: Pause): void {
    this.#why = why;
    this.#againInMs = againInMs;
    this.#sinceMs = performance.now();
  }

  /** Restarts the wait, because another part has arrived. */
  restart(): void {
    this.#seen.job.waitedMs = 0;
    this.#sinceMs = performance.now();
  }

  /**
   * Ends a pause. The time for which missing media are waited for is limited by the job. A pause that took longer than it was to
   * take counts as one that did not: the computer has slept, or the process was stopped, and nothing could arrive.
   */
  end(): void {
    const why = this.#why;
    this.#why = undefined;
    if (why === undefined || why === "failure") {
      return;
    }
    const tookMs = performance.now() - this.#sinceMs;
    const waitedMs = Math.max(Math.min(tookMs, this.#againInMs + lateMs), 1);
    this.#seen.quietMs += waitedMs;
    this.#seen.job.waitedMs += why === "missing" ? waitedMs : 0;
  }

  /** Notes in the database how long the job has waited, so that a restart does not restart the wait. */
  save(root: JobStore): void {
    const { job } = this.#seen;
    if (job.waitedMs !== this.#savedMs) {
      this.#savedMs = job.waitedMs;
      root.saveTimes(job);
    }
  }
}
