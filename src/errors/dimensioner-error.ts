import type { ErrorCode, ErrorDetails, FailureFacts } from "./codes.ts";
import { type Values, interpolate } from "./interpolation.ts";
import { type SentenceKey, type TextKey, sentences, wordingOf } from "./sentences.ts";

/** Longest message that is kept: some systems quote what they were given. */
const longestMessage = 300;
/** An underlying error may have a cause of its own; a longer chain helps nobody. */
const deepest = 3;

/**
 * The part of an underlying error that may be shown and logged: its name, message, code, and where it was thrown.
 * Everything else is left out, since such errors hold the request's headers, the response's bytes or the input.
 */
export function withoutSecrets(error: unknown, depth = 1): Error {
  const { name, code, message, frames, cause } = readError(error);
  const inner = cause === undefined || depth === deepest ? undefined : withoutSecrets(cause, depth + 1);
  const safe = new Error(message, inner && { cause: inner });
  const own = { name, code, stack: [`${name}: ${message}`, ...frames].join("\n") };
  for (const [property, value] of Object.entries(own)) {
    if (value !== undefined) {
      Object.defineProperty(safe, property, { value, configurable: true, writable: true });
    }
  }
  return safe;
}

interface ReadError {
  readonly name: string;
  readonly code: string | undefined;
  readonly message: string;
  readonly frames: readonly string[];
  readonly cause: unknown;
}

function readError(error: unknown): ReadError {
  if (!(error instanceof Error)) {
    return { name: "Error", code: undefined, message: mask(String(error)), frames: [], cause: undefined };
  }
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  // A connection attempt to several addresses has its messages in the errors below it.
  const attempts: readonly unknown[] = error instanceof AggregateError ? error.errors : [];
  const [first] = attempts;
  const message = error.message === "" && first instanceof Error ? first.message : error.message;
  // The stack begins with the message, which may have any lines.
  const { stack = "" } = error;
  const frames = stack
    .slice(stack.indexOf(error.message) + error.message.length)
    .split("\n")
    .filter((line) => /^\s+at /.test(line));
  return { name: error.name, code, message: mask(message), frames, cause: error.cause };
}

/**
 * Cuts the message, and removes what identifies a user or grants access: user names, passwords and queries in
 * addresses, and the credentials of authentication schemes.
 */
function mask(message: string): string {
  return message
    .slice(0, longestMessage)
    .replace(/\b([a-z][a-z\d+.-]*:\/\/)[^\s/?#]*@/gi, "$1")
    .replace(/\b([a-z][a-z\d+.-]*:\/\/[^\s?#]*)[?#]\S*/gi, "$1")
    .replace(/\b(basic|bearer|digest|negotiate)\s+\S+/gi, "$1 …")
    .trim()
    .toWellFormed();
}

export { errorCodes, type ErrorCode } from "./codes.ts";
export type { ErrorDetails, FailureFacts, Outcome, Surface } from "./codes.ts";

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
  #rawResponse: string | undefined;

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

  /** The answer to a command that came and could not be used, exactly, but at most its first 64 kB; undefined if none came. */
  get rawResponse(): string | undefined {
    return this.#rawResponse;
  }

  /** Adds the answer to the error of a command that was created before it had arrived. */
  keepAnswer(rawResponse: string): void {
    this.#rawResponse ??= rawResponse;
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
