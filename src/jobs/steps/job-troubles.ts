import type { DimensionerError } from "../../errors/dimensioner-error.ts";

/** Different errors beyond this number take little memory compared with what they hold up. */
const mostKept = 100;

/**
 * The errors that hold up the jobs of one node. Where a cloud is off, thousands of jobs have the same error, and with
 * its stack it would take more memory than its job: those that say the same share one.
 */
export class JobTroubles {
  readonly #byText = new Map<string, DimensionerError>();

  /** Returns the error that was given first of those that say the same. */
  shared(error: DimensionerError): DimensionerError {
    const text = `${error.textKey} ${error.message}`;
    const before = this.#byText.get(text);
    if (before !== undefined) {
      return before;
    }
    if (this.#byText.size >= mostKept) {
      this.#byText.clear();
    }
    this.#byText.set(text, error);
    return error;
  }
}
