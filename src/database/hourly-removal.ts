const hourMs = 3_600_000;

/**
 * Removes what is old from a database: each hour, because a process may run for months. `remove` removes some rows, so that
 * nothing waits long for the database, and returns whether there may be more.
 */
export class HourlyRemoval {
  readonly #remove: () => Promise<boolean>;
  readonly #timer: NodeJS.Timeout;
  #isStopped = false;
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
    this.#isStopped = true;
    clearInterval(this.#timer);
    await this.#running;
  }

  /** What cannot be removed now is removed by a later run: while the database fails, those who use it say so. */
  async #run(): Promise<void> {
    try {
      while (!this.#isStopped && (await this.#remove())) {
        // The next ones.
      }
    } catch {
      // Nothing was lost.
    }
  }
}
