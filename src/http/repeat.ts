import { isDimensionerError } from "../errors/dimensioner-error.ts";

/** How a read is repeated. Commands have no such thing. */
export interface RepeatPolicy {
  /** Tries in a row that may bring nothing. */
  readonly tries: number;
  /** The wait before the second try; it doubles with each further one. */
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
}

export const readPolicy: RepeatPolicy = { tries: 3, firstDelayMs: 200, longestDelayMs: 5_000 };

/** True for what passes by itself: a lost connection, 408, 429 and 5xx. */
export function isPassing(error: unknown): boolean {
  if (!isDimensionerError(error)) {
    return false;
  }
  const { statusCode } = error.details;
  return (
    error.code === "ERR_CONNECTION_LOST" ||
    (statusCode !== undefined && (statusCode === 408 || statusCode === 429 || statusCode >= 500))
  );
}

/**
 * The wait before the next try after `failures` in a row: exponential with up to half of it as jitter, so that forty
 * docks do not come back at the same moment; longer where the peer asked for it.
 */
export function delayMs(policy: RepeatPolicy, failures: number, retryAfterMs = 0): number {
  const fullMs = Math.min(policy.firstDelayMs * 2 ** (failures - 1), policy.longestDelayMs);
  return Math.max(fullMs * (0.5 + Math.random() / 2), retryAfterMs);
}
