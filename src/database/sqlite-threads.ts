import type { Worker } from "node:worker_threads";
import { startThread } from "./start-thread.ts";

/** Longer than a deploy takes to open the next database; after that an idle thread only takes memory. */
const defaultIdleMs = 10_000;

interface IdleThread {
  readonly worker: Worker;
  /** Removes the listeners for the end of the idle thread. */
  readonly release: () => void;
}

/**
 * A pool of threads for databases, one for each open database. Starting a thread takes ten times as long as opening a
 * database in it, and a deploy closes and opens every store: a thread that has closed its database is kept for a while
 * for the next.
 */
export class SqliteThreads {
  readonly #idleMs: number;
  readonly #idle: IdleThread[] = [];

  constructor({ idleMs = defaultIdleMs }: { readonly idleMs?: number } = {}) {
    this.#idleMs = idleMs;
  }

  /** Returns a thread that has no database open. Nothing listens to it yet. */
  take(): Worker {
    const idle = this.#idle.pop();
    idle?.release();
    return idle?.worker ?? startThread("src/database/sqlite-thread");
  }

  /** Keeps a thread that has closed its database. It does not keep the process alive. */
  giveBack(worker: Worker): void {
    const remove = (): void => {
      const index = this.#idle.indexOf(idle);
      if (index !== -1) {
        this.#idle.splice(index, 1);
      }
    };
    const timer = setTimeout(() => {
      remove();
      void worker.terminate();
    }, this.#idleMs).unref();
    const idle: IdleThread = {
      worker,
      release: () => {
        clearTimeout(timer);
        worker.off("error", remove).off("exit", remove);
      },
    };
    // An error without a listener would end the process.
    worker.on("error", remove).on("exit", remove);
    this.#idle.push(idle);
  }
}
