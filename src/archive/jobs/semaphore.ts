/** Lets so many in at a time, in the order in which they came, but those that go first before all others. */
export class Semaphore {
  #free: number;
  readonly #first = new Set<() => void>();
  readonly #waiting = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves with the function that gives the place back. Rejects with the signal's reason. */
  async enter(signal: AbortSignal, goesFirst = false): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#free > 0) {
      this.#free -= 1;
    } else {
      const waiting = goesFirst ? this.#first : this.#waiting;
      await new Promise<void>((resolve, reject) => {
        const stop = (): void => {
          waiting.delete(enter);
          reject(signal.reason as Error);
        };
        const enter = (): void => {
          signal.removeEventListener("abort", stop);
          resolve();
        };
        signal.addEventListener("abort", stop, { once: true });
        waiting.add(enter);
      });
    }
    let isIn = true;
    return () => {
      if (!isIn) {
        return;
      }
      isIn = false;
      const waiting = this.#first.size > 0 ? this.#first : this.#waiting;
      const [next] = waiting;
      if (next === undefined) {
        this.#free += 1;
      } else {
        waiting.delete(next);
        next();
      }
    };
  }
}
