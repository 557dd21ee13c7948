import { syncBuiltinESMExports } from "node:module";
import timersPromises from "node:timers/promises";

interface Timer {
  readonly dueMs: number;
  readonly fire: () => void;
}

/** Timers and `performance.now()` of this process that move on only when they are told to. */
export class VirtualClock {
  readonly #timers = new Map<number, Timer>();
  readonly #setTimeout = globalThis.setTimeout;
  readonly #clearTimeout = globalThis.clearTimeout;
  readonly #sleep = timersPromises.setTimeout;
  readonly #now = performance.now.bind(performance);
  readonly #soonMs: number;
  #nowMs = this.#now();
  #lastId = 0;

  /** Timers that are further ahead than `soonMs` count as waiting for what never comes. */
  constructor(soonMs: number) {
    this.#soonMs = soonMs;
    const start = (fire: (...given: unknown[]) => void, ms = 0, ...given: unknown[]): object => {
      const id = (this.#lastId += 1);
      this.#timers.set(id, { dueMs: this.#nowMs + ms, fire: () => fire(...given) });
      const timer = { [Symbol.toPrimitive]: () => id, ref: () => timer, unref: () => timer };
      return timer;
    };
    const stop = (timer: unknown): void => void this.#timers.delete(Number(timer ?? 0));
    const sleep = (ms = 0, value?: unknown, { signal }: { signal?: AbortSignal } = {}): Promise<unknown> =>
      new Promise((resolve, reject) => {
        const abort = (): void => {
          stop(timer);
          reject(signal?.reason as Error);
        };
        const timer = start(() => {
          signal?.removeEventListener("abort", abort);
          resolve(value);
        }, ms);
        signal?.addEventListener("abort", abort, { once: true });
      });
    Object.assign(globalThis, { setTimeout: start, clearTimeout: stop });
    replaceSleep(sleep as typeof timersPromises.setTimeout);
    performance.now = () => this.#nowMs;
  }

  get isDueSoon(): boolean {
    const next = this.#next();
    return next !== undefined && next[1].dueMs - this.#nowMs <= this.#soonMs;
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

  /** Ends all timers, as the end of the process does. */
  forget(): void {
    this.#timers.clear();
  }

  close(): void {
    Object.assign(globalThis, { setTimeout: this.#setTimeout, clearTimeout: this.#clearTimeout });
    replaceSleep(this.#sleep);
    performance.now = this.#now;
  }

  #next(): [number, Timer] | undefined {
    return [...this.#timers].sort(([, a], [, b]) => a.dueMs - b.dueMs)[0];
  }
}

/** The function of node:timers/promises, also for modules that have imported it already. */
function replaceSleep(sleep: typeof timersPromises.setTimeout): void {
  timersPromises.setTimeout = sleep;
  syncBuiltinESMExports();
}
