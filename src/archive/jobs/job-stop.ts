import { setMaxListeners } from "node:events";
import type { DimensionerError } from "../../errors/dimensioner-error.ts";

/** Stops a job. Its signal is made only while steps use it, since it takes more memory than all else of a job that waits. */
export class JobStop {
  #controller: AbortController | undefined;
  #reason: DimensionerError | undefined;

  /** Why the job is to end; undefined while it is not. */
  get reason(): DimensionerError | undefined {
    return this.#reason;
  }

  /** Aborts when the job is stopped, with the reason. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      setMaxListeners(0, this.#controller.signal);
      if (this.#reason !== undefined) {
        this.#controller.abort(this.#reason);
      }
    }
    return this.#controller.signal;
  }

  /** Only the first reason counts. */
  stop(reason: DimensionerError): void {
    if (this.#reason === undefined) {
      this.#reason = reason;
      this.#controller?.abort(reason);
    }
  }

  /** No step uses the signal any more. */
  release(): void {
    this.#controller = undefined;
  }
}
