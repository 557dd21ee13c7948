import type { ErrorCode } from "./codes.ts";
import type { ErrorDetails, FailureFacts } from "./details.ts";
import { interpolate, type Values } from "./interpolation.ts";
import { sentences, wordingOf, type SentenceKey, type TextKey } from "./sentences.ts";
import { withoutSecrets } from "./underlying.ts";

export { errorCodes, type ErrorCode } from "./codes.ts";
export type { ErrorDetails, FailureFacts, Outcome, Surface } from "./details.ts";

/**
 * The only error class of this package. `message` is a sentence that says what happened and what to do, `cause` the
 * underlying error (the system's, undici's) if there is one. `textKey`, the sentence with its variant, and `values` let
 * a caller show the sentence in another language.
 */
export class DimensionerError extends Error {
  override readonly name = "DimensionerError";
  readonly code: ErrorCode;
  readonly details: ErrorDetails;
  readonly sentence: SentenceKey;
  readonly textKey: TextKey;
  readonly values: Values;
  /** Not a property of its own: whoever logs the error or its details must not write the answer with it. */
  readonly #rawResponse: string | undefined;

  constructor(
    sentence: SentenceKey,
    { cause, rawResponse, retryable: hasAll = true, ...facts }: FailureFacts,
    values: Values = {},
  ) {
    const outcome = facts.outcome ?? null;
    const { text, hint, textKey } = wordingOf(sentence, facts.surface, outcome);
    const { code, retryable = false } = sentences[sentence];
    super(interpolate(text, values), cause === undefined ? undefined : { cause: withoutSecrets(cause) });
    this.code = code;
    this.sentence = sentence;
    this.textKey = textKey;
    this.values = values;
    this.#rawResponse = rawResponse;
    const isSafe = outcome === null || outcome === "not-sent" || outcome === "refused";
    const mayRepeat = isSafe && retryable && hasAll;
    this.details = { ...facts, outcome, retryable: mayRepeat, hint: interpolate(hint, values) };
  }

  /** The exact answer to a measure that came and could not be used; undefined if none came. */
  get rawResponse(): string | undefined {
    return this.#rawResponse;
  }
}

export function isDimensionerError(error: unknown): error is DimensionerError {
  return error instanceof DimensionerError;
}

/** The same call may be repeated, which is safe and may help: nothing was executed that it would execute twice. */
export function isRetryable(error: unknown): error is DimensionerError {
  return isDimensionerError(error) && error.details.retryable;
}

/** A command may have been executed: look at the device before you send it again. */
export function needsLookAtDevice(error: unknown): error is DimensionerError {
  return isDimensionerError(error) && error.details.outcome === "unknown";
}

/** Nothing has been executed, and the same call would fail again: an option, an argument or the device's set-up has to change. */
export function needsCorrection(error: unknown): error is DimensionerError {
  return isDimensionerError(error) && !isRetryable(error) && !needsLookAtDevice(error);
}
