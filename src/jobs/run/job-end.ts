import type { Archived } from "../seal/job-results.ts";

type Result = { readonly archived: Archived } | { readonly error: unknown };

/**
 * The end of a job, for those that wait for it. A promise is created only when it is requested, because thousands of
 * jobs may be open.
 */
export class JobEnd {
  #result: Result | undefined;
  #waiting: PromiseWithResolvers<Archived> | undefined;
  #callBacks: (() => void)[] | undefined;

  get isSettled(): boolean {
    return this.#result !== undefined;
  }

  /** Resolves with the package, or rejects with the error. */
  get promise(): Promise<Archived> {
    this.#waiting ??= Promise.withResolvers();
    this.#settle();
    return this.#waiting.promise;
  }

  /** Calls back when the job has ended. */
  whenSettled(callBack: () => void): void {
    if (this.isSettled) {
      callBack();
    } else {
      this.#callBacks = [...(this.#callBacks ?? []), callBack];
    }
  }

  end(result: Result): void {
    this.#result = result;
    const callBacks = this.#callBacks ?? [];
    this.#callBacks = undefined;
    callBacks.forEach((callBack) => callBack());
    this.#settle();
  }

  #settle(): void {
    if (this.#result === undefined) {
      return;
    }
    if ("archived" in this.#result) {
      this.#waiting?.resolve(this.#result.archived);
    } else {
      this.#waiting?.reject(this.#result.error);
    }
  }
}

/** A time in the life of a job, for those that wait for its end. */
export class JobPhase {
  #hasEnded = false;
  #waiting: PromiseWithResolvers<void> | undefined;

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Resolves at its end. */
  get promise(): Promise<void> {
    this.#waiting ??= Promise.withResolvers();
    if (this.#hasEnded) {
      this.#waiting.resolve();
    }
    return this.#waiting.promise;
  }

  end(): void {
    this.#hasEnded = true;
    this.#waiting?.resolve();
  }
}
