import type { DimensionerError } from "../../errors/dimensioner-error.ts";

/**
 * Stops a job. Its signal exists only while steps use it, because it takes more memory than everything else of a
 * waiting job.
 */
export class JobStop {
  #controller: AbortController | undefined;
  #reason: DimensionerError | undefined;

  /** Why the job is stopped; undefined if it is not. */
  get reason(): DimensionerError | undefined {
    return this.#reason;
  }

  /** Aborts when the job is stopped, with the reason. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
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

  /** To be called when no step uses the signal any more. */
  release(): void {
    this.#controller = undefined;
  }
}
