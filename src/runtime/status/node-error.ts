import type { DimensionerError, ErrorDetails } from "../../errors/dimensioner-error.ts";
import { textOfThrown } from "../../errors/interpolation.ts";
import type { ErrorCode } from "../../errors/codes.ts";

/**
 * An error for Node-RED, which copies the error's own properties `code`, `cause` and `stack` to the message, and shows
 * the result of `toString()`. So that result is the sentence alone, and `cause` is a plain object with the details.
 */
export class NodeError extends Error {
  readonly code: ErrorCode;
  declare readonly cause: ErrorDetails;

  constructor({ code, stack }: DimensionerError, message: string, cause: ErrorDetails) {
    super(message, { cause });
    this.code = code;
    // The stack of the failure, not that of its translation.
    this.stack = stack ?? message;
  }

  override toString(): string {
    return this.message;
  }
}

/** What was thrown and is no error of ours, such as by a getter of a message, as an error with a text: statuses and the log need one. */
export function unforeseenError(thrown: unknown): Error {
  const isReadable = thrown instanceof Error && typeof thrown.message === "string";
  return isReadable ? thrown : new Error(textOfThrown(thrown), { cause: thrown });
}
