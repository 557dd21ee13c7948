/** Who waits for a turn. */
export interface Waiting {
  /** Called when its turn has come. */
  go(): void;
}

/**
 * Lets a limited number work at a time, in the order in which they came, but urgent ones first. Who waits is only an entry of a set,
 * so thousands can.
 */
export class Semaphore {
  readonly #paceMs: number;
  readonly #urgent = new Set<Waiting>();
  readonly #others = new Set<Waiting>();
  #free: number;

  /** `paceMs`: for how long a turn that is not urgent takes its place at least. */
  constructor(places: number, paceMs = 0) {
    this.#free = places;
    this.#paceMs = paceMs;
  }

  /** Takes a place at once and returns true, or lets `waiting` go when there is one. */
  enter(waiting: Waiting, isUrgent = false): boolean {
    if (this.#free === 0) {
      (isUrgent ? this.#urgent : this.#others).add(waiting);
      return false;
    }
    this.#free -= 1;
    return true;
  }

  /** Waits no longer. Returns false if its turn has come already: then it has to leave. */
  cancel(waiting: Waiting): boolean {
    return this.#urgent.delete(waiting) || this.#others.delete(waiting);
  }

  /** Gives the place to the next one. `sinceMs`: when the turn began, in `performance.now()`. */
  leave(sinceMs = 0, isUrgent = false): void {
    const leftMs = isUrgent ? 0 : sinceMs + this.#paceMs - performance.now();
    if (this.#paceMs > 0 && leftMs > 0) {
      setTimeout(() => this.#pass(), leftMs).unref();
    } else {
      this.#pass();
    }
  }

  #pass(): void {
    const waiting = this.#urgent.size > 0 ? this.#urgent : this.#others;
    const [next] = waiting;
    if (next === undefined) {
      this.#free += 1;
    } else {
      waiting.delete(next);
      next.go();
    }
  }
}

/** Runs work with a common key one after the other. */
export class KeyTurns {
  /** The last work of each key. */
  readonly #last = new Map<string, Promise<void>>();

  async run<T>(keys: readonly string[], act: () => Promise<T>): Promise<T> {
    const before = keys.map(async (key) => this.#last.get(key));
    const done = Promise.all(before).then(act);
    const ended = done.then(
      () => undefined,
      () => undefined,
    );
    keys.forEach((key) => this.#last.set(key, ended));
    try {
      return await done;
    } finally {
      for (const key of keys) {
        if (this.#last.get(key) === ended) {
          this.#last.delete(key);
        }
      }
    }
  }
}
