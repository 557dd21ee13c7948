import type { DimensionerError } from "../errors/dimensioner-error.ts";

/** Why something that waited was dropped: a controller aborted with the reason "reset" says so, all others mean the end. */
export type CancelSentence = "cancelledReset" | "cancelledClose";

export type FailCancelled = (sentence: CancelSentence) => DimensionerError;

export function cancelSentence(signals: readonly AbortSignal[]): CancelSentence {
  const first = signals.find((signal) => signal.aborted);
  return first?.reason === "reset" ? "cancelledReset" : "cancelledClose";
}

/** Waits; throws ERR_CANCELLED when one of the signals aborts before or meanwhile. */
export function wait(ms: number, signals: readonly AbortSignal[], fail: FailCancelled): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      clearTimeout(timer);
      for (const signal of signals) {
        signal.removeEventListener("abort", drop);
      }
    };
    const drop = (): void => {
      leave();
      reject(fail(cancelSentence(signals)));
    };
    const timer = setTimeout(() => {
      leave();
      resolve();
    }, ms);
    // Not AbortSignal.any: in Node.js 20 each one leaves something behind with a signal that lives long.
    for (const signal of signals) {
      signal.addEventListener("abort", drop);
    }
    if (signals.some((signal) => signal.aborted)) {
      drop();
    }
  });
}

export interface PollOptions {
  /** How long to go on asking; 0: once. */
  readonly waitMs: number;
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
