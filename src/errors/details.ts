/** Where it went wrong. */
export type Surface = "newer-device" | "earlier-device" | "cloud" | "disk" | "store" | "config";

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
  /**
   * In Node-RED: the device by the name of its config node, or by its address; through the cloud the device reference, or
   * the cloud's name.
   */
  device?: string;
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
