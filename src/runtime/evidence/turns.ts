import { DimensionerError } from "../../errors/dimensioner-error.ts";
import type { Job } from "../action/serve.ts";

/** Lets long actions run one after the other: several at once would only make the disk slower for all of them. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  /** Runs the work in its turn. A reset ends the wait, and a close also the work, with ERR_CANCELLED. */
  async run<T>(operation: string, job: Job, work: () => Promise<T>): Promise<T> {
    const before = this.#last;
    const turn = Promise.withResolvers<void>();
    this.#last = before.then(() => turn.promise);
    try {
      this.#waiting += 1;
      if (this.#waiting > 1) {
        job.status.say("waiting", "waitingInQueue", { count: this.#waiting - 1 });
      }
      await beforeAbort(before, operation, job);
      return await work();
    } catch (error) {
      // A close also closes the database: what fails then has not failed by itself.
      throw job.signal.aborted
        ? new DimensionerError("cancelledClose", { surface: "disk", operation, cause: error })
        : error;
    } finally {
      this.#waiting -= 1;
      turn.resolve();
    }
  }
}

async function beforeAbort(
  before: Promise<unknown>,
  operation: string,
  { signal, waitSignal }: Job,
): Promise<void> {
  const ended = AbortSignal.any([signal, waitSignal]);
  const aborted = Promise.withResolvers<void>();
  const abort = (): void => aborted.resolve();
  ended.addEventListener("abort", abort);
  try {
    await Promise.race([before, ended.aborted ? undefined : aborted.promise]);
  } finally {
    ended.removeEventListener("abort", abort);
  }
  if (ended.aborted) {
    const sentence = signal.aborted ? "cancelledClose" : "cancelledReset";
    throw new DimensionerError(sentence, { surface: "disk", operation });
  }
}
