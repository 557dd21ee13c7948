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
