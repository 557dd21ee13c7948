export interface HealthCheckOptions {
  /** The time between two checks while the peer responds. */
  readonly intervalMs: number;
  /** Checks once; rejects if the peer does not respond as it should. */
  readonly check: (signal: AbortSignal) => Promise<unknown>;
  /** Called when the peer responds: at first, and again after each time that it did not. */
  readonly onUp: (isRecovery: boolean) => void;
  /** Called when the peer stops responding, and at first if it does not respond; not again until it has responded. */
  readonly onDown: (error: unknown) => void;
  /** Returns a number from 0 to 1. */
  readonly random?: () => number;
}

/** The longest pause between two checks while there is no response, in intervals … */
const longestPauseIntervals = 10;
/** … and as a time, unless the interval itself is longer. */
const longestPauseMs = 300_000;
/** Each pause is shortened by up to this part, so that checks of many devices do not coincide. */
const jitter = 0.2;
/** The first check comes within this time. */
const firstWithinMs = 1_000;

/**
 * Checks again and again whether the peer responds: at intervals while it does, and with doubling pauses while it does
 * not. One check runs at a time. Only changes are reported, and the timer does not keep the process alive.
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
