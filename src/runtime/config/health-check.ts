export interface HealthCheckOptions {
  /** Between two checks while the other side answers. */
  readonly intervalMs: number;
  /** Rejects where the other side does not answer as it should. */
  readonly check: (signal: AbortSignal) => Promise<unknown>;
  /** Told when the other side answers: at first, and again after each time that it did not. */
  readonly onUp: (isRecovery: boolean) => void;
  /** Told when it stops answering, and at first when it does not; not again until it has answered. */
  readonly onDown: (error: unknown) => void;
  /** From 0 to 1. */
  readonly random?: () => number;
}

/** So many intervals at most lie between two checks while there is no answer … */
const longestPauseIntervals = 10;
/** … and so much time, unless the interval itself is longer. */
const longestPauseMs = 300_000;
/** Each pause is up to this part shorter, so that checks of many machines do not fall together. */
const jitter = 0.2;
/** The first check comes within this time. */
const firstWithinMs = 1_000;

/**
 * Asks again and again whether the other side is there: at intervals while it is, and with doubling pauses while it is
 * not. One check at a time; it tells changes only, keeps no process alive and ends with `close`.
 */
export class HealthCheck {
  readonly #options: HealthCheckOptions;
  readonly #closing = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #isUp: boolean | undefined;
  #failures = 0;

  constructor(options: HealthCheckOptions) {
    this.#options = options;
    this.#schedule(Math.min(options.intervalMs, firstWithinMs) * this.#random());
  }

  close(): void {
    this.#closing.abort();
    clearTimeout(this.#timer);
  }

  #random(): number {
    return (this.#options.random ?? Math.random)();
  }

  #schedule(pauseMs: number): void {
    this.#timer = setTimeout(() => void this.#run(), pauseMs);
    this.#timer.unref();
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    const { signal } = this.#closing;
    const { check, onUp, onDown } = this.#options;
    const failure = await check(signal).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    if (signal.aborted) {
      return;
    }
    const wasUp = this.#isUp;
    this.#isUp = failure === undefined;
    this.#failures = failure === undefined ? 0 : this.#failures + 1;
    if (failure === undefined && wasUp !== true) {
      onUp(wasUp === false);
    } else if (failure !== undefined && wasUp !== false) {
      onDown(failure.error);
    }
    this.#schedule(this.#pauseMs());
  }

  #pauseMs(): number {
    const { intervalMs } = this.#options;
    const doubled = intervalMs * 2 ** Math.max(0, this.#failures - 1);
    const longest = Math.max(intervalMs, Math.min(intervalMs * longestPauseIntervals, longestPauseMs));
    return Math.min(doubled, longest) * (1 - jitter * this.#random());
  }
}
