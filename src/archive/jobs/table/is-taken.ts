import { isDimensionerError, type DimensionerError } from "../../../errors/dimensioner-error.ts";

/** Whether another worker has the job of which this error is: this one must do nothing more with it. */
export function isTaken(error: unknown): error is DimensionerError & { readonly sentence: "cancelledTaken" } {
  return isDimensionerError(error) && error.sentence === "cancelledTaken";
}
