import type { ErrorCode } from "../../src/errors/dimensioner-error.ts";
import type { Ending } from "./row.ts";

/** Endings that occur often. */

export const succeeds: Ending = {};

/** A command that may have been executed. */
export const outcomeUnknown = (code: ErrorCode, statusCode?: number): Ending => ({
  code,
  outcome: "unknown",
  retryable: false,
  ...(statusCode === undefined ? {} : { statusCode }),
});

/** A command that the peer refused. */
export const refused = (code: ErrorCode, statusCode: number, retryable = false): Ending => ({
  code,
  outcome: "refused",
  retryable,
  statusCode,
});

/** A command that was not sent. */
export const notSent = (code: ErrorCode, retryable = true): Ending => ({
  code,
  outcome: "not-sent",
  retryable,
  requests: 0,
});

/** A read or download that is not repeated, because that would change nothing. */
export const failsAtOnce = (code: ErrorCode, statusCode?: number): Ending => ({
  code,
  retryable: false,
  ...(statusCode === undefined ? {} : { statusCode }),
});

/** A read or download that was tried three times. */
export const failsThreeTimes = (code: ErrorCode, statusCode?: number): Ending => ({
  code,
  retryable: true,
  requests: 3,
  ...(statusCode === undefined ? {} : { statusCode }),
});

/** The response is lost in every try. */
export const connectionLost = {
  measure: outcomeUnknown("ERR_CONNECTION_LOST"),
  video: outcomeUnknown("ERR_CONNECTION_LOST"),
  read: failsThreeTimes("ERR_CONNECTION_LOST"),
  download: failsThreeTimes("ERR_CONNECTION_LOST"),
} as const;

/** A read whose deadline passed; sending the message again is safe. */
const readTimeout: Ending = { code: "ERR_TIMEOUT", retryable: true };

export const timeout = {
  measure: outcomeUnknown("ERR_TIMEOUT"),
  video: outcomeUnknown("ERR_TIMEOUT"),
  read: readTimeout,
  download: readTimeout,
} as const;

/** The response is invalid. */
export const badResponse = {
  measure: outcomeUnknown("ERR_BAD_RESPONSE"),
  video: outcomeUnknown("ERR_BAD_RESPONSE"),
  read: failsAtOnce("ERR_BAD_RESPONSE"),
  download: failsAtOnce("ERR_BAD_RESPONSE"),
} as const;

/** The peer could not be reached. */
export const unreachable = {
  measure: notSent("ERR_UNREACHABLE"),
  video: notSent("ERR_UNREACHABLE"),
  read: { code: "ERR_UNREACHABLE", retryable: true, requests: 0 },
  download: { code: "ERR_UNREACHABLE", retryable: true, requests: 0 },
} as const;

/** A deadline that is short enough to pass in a test. */
export const shortMs = 800;
