import type { CollectedMedia } from "../steps/collected-media.ts";
import type { Pause } from "../steps/job-work.ts";
import type { JobStore } from "../steps/job-store.ts";

/** The pauses of a job between two rounds or after a failure, and how long it has waited in them. */
export class JobPause {
  readonly #seen: CollectedMedia;
  #why: Pause["why"] | undefined;
  #sinceMs = 0;
  #savedMs: number;

  constructor(seen: CollectedMedia) {
    this.#seen = seen;
    this.#savedMs = seen.job.waitedMs;
  }

  /** Why the job pauses; undefined while it does not. */
  get why(): Pause["why"] | undefined {
    return this.#why;
  }

  begin(why: Pause["why"]): void {
    this.#why = why;
    this.#sinceMs = performance.now();
  }

  /** Restarts the wait, because another part has arrived. */
  restart(): void {
    this.#seen.job.waitedMs = 0;
    this.#sinceMs = performance.now();
  }

  /** Ends a pause. The time for which missing media are waited for is limited by the job. */
  end(): void {
    const why = this.#why;
    this.#why = undefined;
    if (why === undefined || why === "failure") {
      return;
    }
    const waitedMs = Math.max(performance.now() - this.#sinceMs, 1);
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
