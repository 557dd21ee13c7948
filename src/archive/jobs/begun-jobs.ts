import type { Expected } from "../packages/manifest.ts";
import { includesAll } from "./demand.ts";
import { isOtherAnswer, type Answer } from "./keys.ts";
import type { RunningJob } from "./running-job.ts";
import type { Archived } from "./sealing.ts";

/** What a job wants, and the measurement that it brings. */
export interface Wanted {
  readonly expected: Expected;
  readonly answer: Answer;
}

/** A job that is being accepted or worked on; or the package that there was for it. */
interface BegunJob extends Wanted {
  readonly job: Promise<Archived | RunningJob>;
}

/** Jobs whose messages bring no media and that are being accepted or worked on, by key: the same job is done once at a time. */
export class BegunJobs {
  readonly #jobs = new Map<string, readonly BegunJob[]>();

  /** The job that does also what this one wants. */
  find(key: string, wanted: Wanted): Promise<Archived | RunningJob> | undefined {
    return this.#jobs.get(key)?.find((one) => isSameWork(one, wanted))?.job;
  }

  /** Whether one brings another measurement of the same transaction. */
  hasOther(key: string, answer: Answer): boolean {
    return this.#jobs.get(key)?.some((one) => isOtherAnswer(answer, one.answer)) === true;
  }

  /** What is returned is to be called when it has ended. */
  add(key: string, begun: BegunJob): () => void {
    this.#jobs.set(key, [...(this.#jobs.get(key) ?? []), begun]);
    return () => {
      const left = this.#jobs.get(key)?.filter((one) => one !== begun) ?? [];
      if (left.length > 0) {
        this.#jobs.set(key, left);
      } else {
        this.#jobs.delete(key);
      }
    };
  }
}

/** Whether a job that is at work does also what another one wants. */
export function isSameWork(atWork: Wanted, wanted: Wanted): boolean {
  return (
    !isOtherAnswer(wanted.answer, atWork.answer) &&
    (wanted.answer.raw === null || wanted.answer.raw === atWork.answer.raw) &&
    includesAll(atWork.expected, wanted.expected)
  );
}
