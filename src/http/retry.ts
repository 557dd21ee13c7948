import { setTimeout as sleep } from "node:timers/promises";
import { isDimensionerError, type DimensionerError } from "../errors/dimensioner-error.ts";

/** How a read is repeated. Commands have no such thing. */
export interface RetryPolicy {
  /** Tries in a row that may bring nothing. */
  readonly tries: number;
  /** The wait before the second try; it doubles with each further one. */
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
}

export const readPolicy: RetryPolicy = { tries: 3, firstDelayMs: 200, longestDelayMs: 5_000 };

/** True for a read that is worth another try by itself: after a lost connection, 408, 429 and 5xx. */
export function isTransient(error: unknown): boolean {
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
export function delayMs(policy: RetryPolicy, failures: number, retryAfterMs = 0): number {
  const fullMs = Math.min(policy.firstDelayMs * 2 ** (failures - 1), policy.longestDelayMs);
  return Math.max(fullMs * (0.5 + Math.random() / 2), retryAfterMs);
}

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

/** Why something that waited was dropped: a controller aborted with the reason "reset" says so, all others mean the end. */
export type CancelSentence = "cancelledReset" | "cancelledClose";

export type FailCancelled = (sentence: CancelSentence) => DimensionerError;

export function cancelSentence(signal: AbortSignal): CancelSentence {
  return signal.reason === "reset" ? "cancelledReset" : "cancelledClose";
}

/**
 * Aborts the controller with whichever of the signals aborts first, until what it returns is called. Not AbortSignal.any:
 * on Node.js 22 each one leaves 170 bytes behind with a signal that lives long.
 */
export function follow(signals: readonly AbortSignal[], controller: AbortController): () => void {
  const release = (): void => signals.forEach((signal) => signal.removeEventListener("abort", abort));
  const abort = (): void => {
    release();
    controller.abort(signals.find(({ aborted }) => aborted)?.reason);
  };
  if (signals.some(({ aborted }) => aborted)) {
    abort();
  } else {
    signals.forEach((signal) => signal.addEventListener("abort", abort));
  }
  return release;
}

/** Waits; throws ERR_CANCELLED when one of the signals aborts before or meanwhile. */
export async function wait(ms: number, signals: readonly AbortSignal[], fail: FailCancelled): Promise<void> {
  const controller = new AbortController();
  const { signal } = controller;
  const release = follow(signals, controller);
  try {
    await sleep(ms, undefined, { signal });
  } catch {
    throw fail(cancelSentence(signal));
  } finally {
    release();
  }
}

export interface PollOptions {
  /** How long to go on asking; 0: once. */
  readonly waitMs: number;
  /** Aborting one of them ends the wait between two questions. */
  readonly signals: readonly AbortSignal[];
  /** Told each time there is nothing yet. */
  readonly onWaiting?: (() => void) | undefined;
  readonly fail: FailCancelled;
}

const firstIntervalMs = 250;
const longestIntervalMs = 2_000;

/** Asks until the answer says that it is there or the time is over; the last answer is returned either way. */
export async function poll<T extends { readonly isThere: boolean }>(
  ask: () => Promise<T>,
  options: PollOptions,
): Promise<T> {
  const until = performance.now() + options.waitMs;
  for (let intervalMs = firstIntervalMs; ; intervalMs = Math.min(intervalMs * 1.5, longestIntervalMs)) {
    const answer = await ask();
    const leftMs = until - performance.now();
    if (answer.isThere || leftMs <= 0) {
      return answer;
    }
    options.onWaiting?.();
    await wait(Math.min(intervalMs, leftMs), options.signals, options.fail);
  }
}
