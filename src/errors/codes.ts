/** The codes of all errors: a part of the public contract, so they are never renamed. */
export const errorCodes = [
  "ERR_CONFIG",
  "ERR_INPUT",
  "ERR_UNREACHABLE",
  "ERR_TIMEOUT",
  "ERR_CONNECTION_LOST",
  "ERR_UNAUTHORIZED",
  "ERR_WRONG_MODE",
  "ERR_BAD_DEVICE_REFERENCE",
  "ERR_DEVICE_TIMEOUT",
  "ERR_NO_VIDEO",
  "ERR_NOT_FOUND",
  "ERR_HTTP",
  "ERR_BAD_RESPONSE",
  "ERR_TOO_LARGE",
  "ERR_MEASURE_FAILED",
  "ERR_MEDIA_INCOMPLETE",
  "ERR_QUEUE_FULL",
  "ERR_EXPIRED",
  "ERR_CANCELLED",
  "ERR_FILE",
  "ERR_STORE",
  "ERR_NOT_BILLABLE",
] as const;

export type ErrorCode = (typeof errorCodes)[number];

/** Where the error comes from. */
export type Surface =
  | "newer-device"
  | "earlier-device"
  | "cloud"
  | "timestamp-server"
  | "disk"
  | "store"
  | "config";

/**
 * What a command did. `not-sent`: certainly not executed. `refused`: the peer said no. `failed`: executed, and the
 * device reports a failure. `unknown`: it may have been executed. Reads and files have none (null).
 */
export type Outcome = "not-sent" | "refused" | "failed" | "unknown";

/** The facts of an error as a plain object. Flows see it as `msg.error.cause`. */
export interface ErrorDetails {
  surface: Surface;
  /** The operation in the API's words: "measure", "video start", "media list". */
  operation: string;
  outcome: Outcome | null;
  /** Whether repeating the operation is safe and may help. */
  retryable: boolean;
  /**
   * In Node-RED: the name of the device's config node, or its address if it has no name; for a device behind the cloud,
   * the device reference, or the cloud's name.
   */
  device?: string;
  statusCode?: number;
  /** The device's or the cloud's own errorCode: of the result, of the object that failed, or of an answer that reports a failure. */
  errorCode?: number;
  hint: string;
  /** Origin and path; never a query, never a token. */
  url?: string;
}

/** The facts that are known where the error is created; the other details follow from the sentence. */
export interface FailureFacts {
  readonly surface: Surface;
  readonly operation: string;
  readonly outcome?: Outcome | null;
  readonly statusCode?: number;
  readonly errorCode?: number;
  readonly url?: string;
  /** False if the same call cannot be made again, because what it was given is not there any more. */
  readonly retryable?: boolean;
  /** The exact answer to a command, if one has come that cannot be used: it cannot be asked for again. */
  readonly rawResponse?: string | undefined;
  /** The underlying error. It is kept as the error's `cause`, without credentials. */
  readonly cause?: unknown;
}
