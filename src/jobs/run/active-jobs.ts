import type { Expected, LeftOut } from "../../vault/packages/manifest.ts";
import { includesAll } from "../steps/required-media.ts";
import { isOtherAnswer, type Answer } from "../table/job-keys.ts";
import type { RunningJob } from "./running-job.ts";
import type { Archived } from "../seal/job-results.ts";

/** What a job is to archive, and the measurement that it brings. */
export interface Wanted {
  readonly expected: Expected;
  /** Whose the video of its transaction is, if it is another parcel's. */
  readonly othersVideo: LeftOut["reason"] | undefined;
  readonly answer: Answer;
}

/** A job that is being accepted or worked on, or the existing package. */
interface ActiveJob extends Wanted {
  readonly job: Promise<Archived | RunningJob>;
  /** The job itself, where it was resumed. */
  readonly resumed?: RunningJob;
}

/**
 * The jobs that are being accepted or worked on and whose messages bring no media, by key: the same job is done once at
 * a time.
 */
export class ActiveJobs {
  readonly #jobs = new Map<string, readonly ActiveJob[]>();

  /** Returns a job that also does what this one is to do. */
  find(key: string, wanted: Wanted): Promise<Archived | RunningJob> | undefined {
    return this.#jobs.get(key)?.find((one) => isSameWork(one, wanted))?.job;
  }

  /** Returns a resumed job that also does what this one is to do. */
  findResumed(key: string, wanted: Wanted): RunningJob | undefined {
    return this.#jobs
      .get(key)
      ?.find(({ resumed, ...one }) => resumed !== undefined && isSameWork(one, wanted))?.resumed;
  }

  /** Whether an active job brings another measurement of the same transaction. */
  hasOther(key: string, answer: Answer): boolean {
    return this.#jobs.get(key)?.some((one) => isOtherAnswer(answer, one.answer)) === true;
  }

  /** Adds a job. Returns a function to be called when it has ended. */
  add(key: string, active: ActiveJob): () => void {
    this.#jobs.set(key, (this.#jobs.get(key) ?? []).concat(active));
    return () => {
      const left = this.#jobs.get(key)?.filter((one) => one !== active) ?? [];
      if (left.length > 0) {
        this.#jobs.set(key, left);
      } else {
        this.#jobs.delete(key);
      }
    };
  }
}

/** Whether an active job also does what another one is to do. */
export function isSameWork(atWork: Wanted, wanted: Wanted): boolean {
  return (
    !isOtherAnswer(wanted.answer, atWork.answer) &&
    (wanted.answer.raw === null || wanted.answer.raw === atWork.answer.raw) &&
    (wanted.othersVideo === undefined || atWork.othersVideo !== undefined) &&
    includesAll(atWork.expected, wanted.expected)
  );
}
