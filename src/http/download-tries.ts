import { isDimensionerError } from "../errors/dimensioner-error.ts";
import { delayMs, isTransient, readPolicy } from "./retry.ts";

/** Counts the tries of one download, including those of restarts. */
export class DownloadTries {
  #failures = 0;
  /** The largest number of bytes that a try has reached: a try that reaches no more has failed. */
  #mostBytes = 0;
  /** When the last byte arrived, in `performance.now()`. */
  lastByteAt = performance.now();

  /** The wait before the next try; undefined if another try cannot help. */
  next(
    error: unknown,
    bytes: number,
    retryAfterMs: number | undefined,
    timeoutMs: number,
  ): number | undefined {
    this.#failures = bytes > this.#mostBytes ? 0 : this.#failures + 1;
    this.#mostBytes = Math.max(this.#mostBytes, bytes);
    const waitMs = delayMs(readPolicy, Math.max(this.#failures, 1), retryAfterMs);
    const isLate = performance.now() + waitMs >= this.lastByteAt + timeoutMs;
    // A peer that has responded before and cannot be reached now may be restarting.
    const wasThere = this.#mostBytes > 0 && isDimensionerError(error) && error.code === "ERR_UNREACHABLE";
    const canHelp = (isTransient(error) || wasThere) && !isLate && this.#failures < readPolicy.tries;
    return canHelp ? waitMs : undefined;
  }
}
