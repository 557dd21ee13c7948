import { setTimeout as sleep } from "node:timers/promises";
import { isDimensionerError, type DimensionerError } from "../errors/dimensioner-error.ts";
import type { SentenceKey } from "../errors/sentences.ts";
import { dateOfAnswer } from "../time/clocks.ts";
import type { Headers } from "./exchange.ts";

/** How reads are repeated. Commands are never repeated. */
export interface RetryPolicy {
  /** How many tries in a row may fail. */
  readonly tries: number;
  /** The wait before the second try; it doubles with each further try. */
  readonly firstDelayMs: number;
  readonly longestDelayMs: number;
}

export const readPolicy: RetryPolicy = { tries: 3, firstDelayMs: 200, longestDelayMs: 5_000 };

/** Bodies of downloads that a moment later may be right. */
const passing: ReadonlySet<SentenceKey> = new Set(["responseDocument", "responseLonger"]);

/** Whether repeating a read may help: after a lost connection, 408, 429 and 5xx, and after a body that is not the medium. */
export function isTransient(error: unknown): boolean {
  if (!isDimensionerError(error)) {
    return false;
  }
  const { statusCode } = error.details;
  return (
    error.code === "ERR_CONNECTION_LOST" ||
    passing.has(error.sentence) ||
    (statusCode !== undefined && (statusCode === 408 || statusCode === 429 || statusCode >= 500))
  );
}

/**
 * The wait before the next try after `failures` in a row: exponential with up to half of it as jitter, so that many
 * clients do not repeat at the same moment; longer if the peer asks for it.
 */
export function delayMs(policy: RetryPolicy, failures: number, retryAfterMs = 0): number {
  const fullMs = Math.min(policy.firstDelayMs * 2 ** (failures - 1), policy.longestDelayMs);
  return Math.max(fullMs * (0.5 + Math.random() / 2), retryAfterMs);
}

/** The longest wait that a peer can ask for; a longer one is shortened to this. */
export const longestRetryAfterMs = 30_000;

/**
 * Reads a Retry-After field (RFC 9110, 10.2.3): seconds or an HTTP date. Undefined if it is missing or not valid; a
 * time in the past means now.
 */
export function readRetryAfterMs(field: string | string[] | undefined, nowMs: number): number | undefined {
  if (typeof field !== "string") {
    return undefined;
  }
  const text = field.trim();
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : dateMs(text) - nowMs;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), longestRetryAfterMs);
}

/** The same of an answer. A date is one of its sender's clock, which its Date tells: this computer's may be another. */
export function retryAfterOf(headers: Headers): number | undefined {
  const sentMs = dateOfAnswer(headers["date"]);
  return readRetryAfterMs(headers["retry-after"], Number.isNaN(sentMs) ? Date.now() : sentMs);
}

/** Only HTTP dates are accepted: Date.parse alone would read "-5" as a year. */
function dateMs(text: string): number {
  return /^[A-Za-z]{3,9},? .*GMT$/.test(text) ? Date.parse(text) : Number.NaN;
}

/** Why a wait was aborted: the reason "reset" means a reset, any other means that the client or node was closed. */
export type CancelSentence = "cancelledReset" | "cancelledClose";

export type FailCancelled = (sentence: CancelSentence) => DimensionerError;

export function cancelSentence(signal: AbortSignal): CancelSentence {
  return signal.reason === "reset" ? "cancelledReset" : "cancelledClose";
}

/**
 * Aborts the controller when the first of the signals aborts, until the returned function is called. Not
 * `AbortSignal.any()`: on Node.js 22 each call leaves 170 bytes in memory as long as one of the signals lives.
 */
export function abortWithAny(signals: readonly AbortSignal[], controller: AbortController): () => void {
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

/** Waits for a time. Throws ERR_CANCELLED if one of the signals aborts before or meanwhile. */
export async function wait(ms: number, signals: readonly AbortSignal[], fail: FailCancelled): Promise<void> {
  const controller = new AbortController();
  const { signal } = controller;
  const release = abortWithAny(signals, controller);
  try {
    await sleep(ms, undefined, { signal });
  } catch {
    throw fail(cancelSentence(signal));
  } finally {
    release();
  }
}

export interface PollOptions {
  /** How long to repeat the request; 0: it is sent once. */
  readonly waitMs: number;
  /** Aborting one of these signals ends a wait between two requests. */
  readonly signals: readonly AbortSignal[];
  /** Called each time there is nothing yet. */
  readonly onWaiting?: (() => void) | undefined;
  readonly fail: FailCancelled;
}

const firstIntervalMs = 250;
const longestIntervalMs = 2_000;

/** Repeats a request until its result is there or the time is over. Returns the last result in both cases. */
export async function poll<T extends { readonly isThere: boolean }>(
  ask: () => Promise<T>,
  options: PollOptions,
): Promise<T> {
  const until = performance.now() + options.waitMs;
  for (let intervalMs = firstIntervalMs; ; intervalMs = Math.min(intervalMs * 1.5, longestIntervalMs)) {
    const result = await ask();
    const leftMs = until - performance.now();
    if (result.isThere || leftMs <= 0) {
      return result;
    }
    options.onWaiting?.();
    await wait(Math.min(intervalMs, leftMs), options.signals, options.fail);
  }
}
