import type { DimensionerError, ErrorDetails } from "../../errors/dimensioner-error.ts";
import type { ErrorCode } from "../../errors/codes.ts";

/**
 * An error as Node-RED hands it to flows: it copies `code`, `cause` and `stack` where they are the error's own, and shows
 * what `toString()` says. So that is the sentence alone, and `cause` the details as a plain object.
 */
export class NodeError extends Error {
  readonly code: ErrorCode;
  declare readonly cause: ErrorDetails;

  constructor({ code, stack }: DimensionerError, message: string, cause: ErrorDetails) {
    super(message, { cause });
    this.code = code;
    // Where the failure is, not where it was translated.
    this.stack = stack ?? message;
  }

  override toString(): string {
    return this.message;
  }
}
