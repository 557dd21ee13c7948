/** Lets so many in at a time, in the order in which they came. */
export class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves with the function that gives the place back. Rejects with the signal's reason. */
  async enter(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free -= 1;
    } else {
      await new Promise<void>((resolve, reject) => {
        const stop = (): void => {
          this.#waiting.splice(this.#waiting.indexOf(enter), 1);
          reject(signal.reason as Error);
        };
        const enter = (): void => {
          signal.removeEventListener("abort", stop);
          resolve();
        };
        signal.addEventListener("abort", stop, { once: true });
        this.#waiting.push(enter);
      });
    }
    let isIn = true;
    return () => {
      if (!isIn) {
        return;
      }
      isIn = false;
      const next = this.#waiting.shift();
      if (next === undefined) {
        this.#free += 1;
      } else {
        next();
      }
    };
  }
}
