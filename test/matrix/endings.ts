import type { ErrorCode } from "../../src/errors/dimensioner-error.ts";
import type { Ending } from "./row.ts";

/** What comes of a fault often enough to have a name. */

export const well: Ending = {};

/** A command that may have been executed. */
export const unclear = (code: ErrorCode, statusCode?: number): Ending => ({
  code,
  outcome: "unknown",
  retryable: false,
  ...(statusCode === undefined ? {} : { statusCode }),
});

/** A command that the peer said no to. */
export const refused = (code: ErrorCode, statusCode: number, retryable = false): Ending => ({
  code,
  outcome: "refused",
  retryable,
  statusCode,
});

/** A command of which nothing went out. */
export const unsent = (code: ErrorCode, retryable = true): Ending => ({
  code,
  outcome: "not-sent",
  retryable,
  requests: 0,
});

/** A read or download that ends at once, since asking again would change nothing. */
export const final = (code: ErrorCode, statusCode?: number): Ending => ({
  code,
  retryable: false,
  ...(statusCode === undefined ? {} : { statusCode }),
});

/** A read or download that was tried three times. */
export const thrice = (code: ErrorCode, statusCode?: number): Ending => ({
  code,
  retryable: true,
  requests: 3,
  ...(statusCode === undefined ? {} : { statusCode }),
});

/** The answer is lost, again and again. */
export const lost = {
  measure: unclear("ERR_CONNECTION_LOST"),
  video: unclear("ERR_CONNECTION_LOST"),
  read: thrice("ERR_CONNECTION_LOST"),
  download: thrice("ERR_CONNECTION_LOST"),
} as const;

/** A read whose deadline passed; sending the message again is safe. */
const lateRead: Ending = { code: "ERR_TIMEOUT", retryable: true };

export const late = {
  measure: unclear("ERR_TIMEOUT"),
  video: unclear("ERR_TIMEOUT"),
  read: lateRead,
  download: lateRead,
} as const;

/** An answer that is none. */
export const bad = {
  measure: unclear("ERR_BAD_RESPONSE"),
  video: unclear("ERR_BAD_RESPONSE"),
  read: final("ERR_BAD_RESPONSE"),
  download: final("ERR_BAD_RESPONSE"),
} as const;

/** Nobody was reached. */
export const unreached = {
  measure: unsent("ERR_UNREACHABLE"),
  video: unsent("ERR_UNREACHABLE"),
  read: { code: "ERR_UNREACHABLE", retryable: true, requests: 0 },
  download: { code: "ERR_UNREACHABLE", retryable: true, requests: 0 },
} as const;

/** A deadline short enough to pass in a test. */
export const shortMs = 800;
