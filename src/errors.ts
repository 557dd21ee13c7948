import type { ErrorCode } from "./error-codes.ts";
import { fillIn, type Values } from "./fill-in.ts";
import { sentences, type SentenceKey } from "./sentences.ts";

export { errorCodes, type ErrorCode } from "./error-codes.ts";

/** Where it went wrong. */
export type Surface = "newer-device" | "earlier-device" | "cloud" | "disk" | "config";

/**
 * What a command did. `not-sent`: certainly not executed. `refused`: the peer said no. `failed`: executed, and the
 * device reports a failure. `unknown`: it may have been executed. Reads and files have none (null).
 */
export type Outcome = "not-sent" | "refused" | "failed" | "unknown";

/** The plain object that a Catch node sees as `msg.error.cause`. */
export interface ErrorCause {
  surface: Surface;
  /** What was asked for, in the API's words: "measure", "video start", "media list". */
  operation: string;
  outcome: Outcome | null;
  /** Whether sending the same message again is safe and may help. */
  retryable: boolean;
  statusCode?: number;
  /** The device's own errorCode, of the result or of the object that failed. */
  errorCode?: number;
  hint: string;
  /** Origin and path; never a query, never a token. */
  url?: string;
}

/** What the place that fails knows; the rest of the cause follows from the sentence. */
export interface FailureFacts {
  surface: Surface;
  operation: string;
  outcome?: Outcome | null;
  statusCode?: number;
  errorCode?: number;
  url?: string;
}

/**
 * The one error of this package. `code` and `cause` are own properties, and `toString()` is the sentence alone, since
 * Node-RED shows that. `sentence` and `values` let a caller say the same in another language.
 */
export class DimensionerError extends Error {
  readonly code: ErrorCode;
  override readonly cause: ErrorCause;
  readonly sentence: SentenceKey;
  readonly values: Values;

  constructor(key: SentenceKey, facts: FailureFacts, values: Values = {}) {
    const outcome = facts.outcome ?? null;
    const sentence = fitting(key, facts.surface, outcome);
    const { code, text, hint, passes = false } = sentences[sentence];
    super(fillIn(text, values));
    this.code = code;
    this.sentence = sentence;
    this.values = values;
    const safe = outcome === null || outcome === "not-sent" || outcome === "refused";
    this.cause = { ...facts, outcome, retryable: safe && passes, hint: fillIn(hint, values) };
  }

  override toString(): string {
    return this.message;
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

/** True when the same message may be sent again without the risk of a second act. */
export function isRetryable(error: unknown): boolean {
  return isDimensionerError(error) && error.cause.retryable;
}
