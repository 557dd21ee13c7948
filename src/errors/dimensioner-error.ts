import type { ErrorCode } from "./codes.ts";
import { interpolate, type Values } from "./interpolation.ts";
import { sentences, type SentenceKey } from "./sentences.ts";
import { withoutSecrets } from "./underlying.ts";

export { errorCodes, type ErrorCode } from "./codes.ts";

/** Where it went wrong. */
export type Surface = "newer-device" | "earlier-device" | "cloud" | "disk" | "config";

/**
 * What a command did. `not-sent`: certainly not executed. `refused`: the peer said no. `failed`: executed, and the
 * device reports a failure. `unknown`: it may have been executed. Reads and files have none (null).
 */
export type Outcome = "not-sent" | "refused" | "failed" | "unknown";

/** What an error says beside its code and its sentence: a plain object. Flows see it as `msg.error.cause`. */
export interface ErrorDetails {
  surface: Surface;
  /** What was asked for, in the API's words: "measure", "video start", "media list". */
  operation: string;
  outcome: Outcome | null;
  /** Whether doing the same again is safe and may help. */
  retryable: boolean;
  statusCode?: number;
  /** The device's own errorCode, of the result or of the object that failed. */
  errorCode?: number;
  hint: string;
  /** Origin and path; never a query, never a token. */
  url?: string;
}

/** What the place that fails knows; the rest of the details follows from the sentence. */
export interface FailureFacts {
  readonly surface: Surface;
  readonly operation: string;
  readonly outcome?: Outcome | null;
  readonly statusCode?: number;
  readonly errorCode?: number;
  readonly url?: string;
  /** The error underneath. What is kept of it as the error's `cause` holds no credentials. */
  readonly cause?: unknown;
}

/**
 * The one error of this package. `message` is a sentence that says what happened and what to do, `cause` the error
 * underneath (the system's, undici's) where there is one. `sentence` and `values` let a caller say the same in another
 * language.
 */
export class DimensionerError extends Error {
  override readonly name = "DimensionerError";
  readonly code: ErrorCode;
  readonly details: ErrorDetails;
  readonly sentence: SentenceKey;
  readonly values: Values;

  constructor(key: SentenceKey, { cause, ...facts }: FailureFacts, values: Values = {}) {
    const outcome = facts.outcome ?? null;
    const sentence = fitting(key, facts.surface, outcome);
    const { code, text, hint, passes = false } = sentences[sentence];
    super(interpolate(text, values), cause === undefined ? undefined : { cause: withoutSecrets(cause) });
    this.code = code;
    this.sentence = sentence;
    this.values = values;
    const isSafe = outcome === null || outcome === "not-sent" || outcome === "refused";
    this.details = { ...facts, outcome, retryable: isSafe && passes, hint: interpolate(hint, values) };
  }
}

/** What to do is another thing where a machine may have acted than where it certainly has not. */
const unsure: Partial<Record<SentenceKey, SentenceKey>> = {
  connectionLost: "connectionLostUnsure",
  cancelledClose: "cancelledUnsure",
};
const harmless: Partial<Record<SentenceKey, SentenceKey>> = {
  timeout: "timeoutHarmless",
  http: "httpHarmless",
  httpBusy: "httpBusyHarmless",
};
/** The cloud, or a gateway that speaks as it does, has no power switch and no Enable Local API. */
const ofCloud: Partial<Record<SentenceKey, SentenceKey>> = {
  unreachableRefused: "unreachableCloud",
  unreachableSilent: "unreachableCloud",
};

/** The same failure in the words that fit where it happened and what it left behind. */
function fitting(key: SentenceKey, surface: Surface, outcome: Outcome | null): SentenceKey {
  const here = surface === "cloud" ? ofCloud[key] : undefined;
  return here ?? (outcome === "unknown" ? unsure : harmless)[key] ?? key;
}

export function isDimensionerError(error: unknown): error is DimensionerError {
  return error instanceof DimensionerError;
}

/** The same call may be made again: that is safe, and may help. Nothing has been executed that a second one would repeat. */
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
