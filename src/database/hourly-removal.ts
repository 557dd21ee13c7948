import { setTimeout as sleep } from "node:timers/promises";

const hourMs = 3_600_000;
/** Each step is followed by a pause of so many times its own duration, and of at least so many milliseconds, for those who wait. */
const [pauseTimes, shortestPauseMs] = [4, 20];

/**
 * Removes what is old from a database: each hour, because a process may run for months. `remove` removes some rows, so that
 * nothing waits long for the database, and returns whether there may be more.
 */
export class HourlyRemoval {
  readonly #remove: () => Promise<boolean>;
  readonly #timer: NodeJS.Timeout;
  readonly #stopping = new AbortController();
  #running: Promise<void>;

  /** `hasMore`: whether it has to go on at once, with what the caller has left. */
  constructor(remove: () => Promise<boolean>, hasMore: boolean) {
    this.#remove = remove;
    this.#running = hasMore ? this.#run() : Promise.resolve();
    this.#timer = setInterval(() => {
      this.#running = this.#running.then(() => this.#run());
    }, hourMs).unref();
  }

  /** Resolves when nothing runs any more. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    clearInterval(this.#timer);
    await this.#running;
  }

  /** What cannot be removed now is removed by a later run: while the database fails, those who use it say so. */
  async #run(): Promise<void> {
    try {
      const { signal } = this.#stopping;
      for (;;) {
        const begunMs = performance.now();
        if (signal.aborted || !(await this.#remove())) {
          return;
        }
        const pauseMs = Math.max(shortestPauseMs, pauseTimes * (performance.now() - begunMs));
        await sleep(pauseMs, undefined, { signal, ref: false });
      }
    } catch {
      // Nothing was lost.
    }
  }
}
