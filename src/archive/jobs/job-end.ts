import type { Archived } from "./sealing.ts";

type Result = { readonly archived: Archived } | { readonly error: unknown };

/** How a job has ended, for those that wait for it. A promise is made only for who asks for one: thousands of jobs may be open. */
export class JobEnd {
  #result: Result | undefined;
  #waiting: PromiseWithResolvers<Archived> | undefined;
  #callBacks: (() => void)[] | undefined;

  get hasCome(): boolean {
    return this.#result !== undefined;
  }

  /** The package, or rejects with the error. */
  get promise(): Promise<Archived> {
    this.#waiting ??= Promise.withResolvers();
    this.#settle();
    return this.#waiting.promise;
  }

  /** Calls back once it has come. */
  whenCome(callBack: () => void): void {
    if (this.hasCome) {
      callBack();
    } else {
      this.#callBacks = [...(this.#callBacks ?? []), callBack];
    }
  }

  come(result: Result): void {
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
