interface Timer {
  readonly dueMs: number;
  readonly fire: () => void;
}

/** What lies further ahead waits for what never comes: the limits of a disk that hangs. */
const soonMs = 5_000;

/** Timers and `performance.now()` of this process that move on only when they are told to. */
export class VirtualClock {
  readonly #timers = new Map<number, Timer>();
  readonly #setTimeout = globalThis.setTimeout;
  readonly #clearTimeout = globalThis.clearTimeout;
  readonly #now = performance.now.bind(performance);
  #nowMs = this.#now();
  #lastId = 0;

  constructor() {
    const start = (fire: (...given: unknown[]) => void, ms = 0, ...given: unknown[]): object => {
      const id = (this.#lastId += 1);
      this.#timers.set(id, { dueMs: this.#nowMs + ms, fire: () => fire(...given) });
      const timer = { [Symbol.toPrimitive]: () => id, ref: () => timer, unref: () => timer };
      return timer;
    };
    const stop = (timer: unknown): void => void this.#timers.delete(Number(timer ?? 0));
    Object.assign(globalThis, { setTimeout: start, clearTimeout: stop });
    performance.now = () => this.#nowMs;
  }

  get isDueSoon(): boolean {
    const next = this.#next();
    return next !== undefined && next[1].dueMs - this.#nowMs <= soonMs;
  }

  /** Moves on to the timer that is due first. */
  fireNext(): void {
    const next = this.#next();
    if (next !== undefined) {
      const [id, { dueMs, fire }] = next;
      this.#timers.delete(id);
      this.#nowMs = Math.max(this.#nowMs, dueMs);
      fire();
    }
  }

  close(): void {
    Object.assign(globalThis, { setTimeout: this.#setTimeout, clearTimeout: this.#clearTimeout });
    performance.now = this.#now;
  }

  #next(): [number, Timer] | undefined {
    return [...this.#timers].sort(([, a], [, b]) => a.dueMs - b.dueMs)[0];
  }
}
