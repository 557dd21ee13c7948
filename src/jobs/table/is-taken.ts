import { isDimensionerError, type DimensionerError } from "../../errors/dimensioner-error.ts";

/** Whether the database does not know the job of which this error is, or has ended it: nothing can be done for it any more. */
export function isUnknown(error: unknown): error is DimensionerError & { readonly sentence: "jobUnknown" } {
  return isDimensionerError(error) && error.sentence === "jobUnknown";
}

/** Whether another worker has the job of which this error is: this one must do nothing more with it. */
export function isTaken(error: unknown): error is DimensionerError & { readonly sentence: "cancelledTaken" } {
  return isDimensionerError(error) && error.sentence === "cancelledTaken";
}
