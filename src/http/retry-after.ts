/** Longest time that a peer may ask to wait; a longer one is cut to this. */
export const longestRetryAfterMs = 30_000;

/**
 * Reads a Retry-After field (RFC 9110, 10.2.3): seconds or an HTTP date. Undefined when there is none or when it is
 * rubbish; a time in the past means now.
 */
export function readRetryAfterMs(
  field: string | string[] | undefined,
  nowMs = Date.now(),
): number | undefined {
  if (typeof field !== "string") {
    return undefined;
  }
  const text = field.trim();
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : dateMs(text) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), longestRetryAfterMs);
}

/** HTTP dates only: Date.parse alone would take "-5" for a year. */
function dateMs(text: string): number {
  return /^[A-Za-z]{3,9},? .*GMT$/.test(text) ? Date.parse(text) : Number.NaN;
}
