import type { Worker } from "node:worker_threads";
import type { Database, Row, Statement } from "./database.ts";
import { afterLimit } from "../time/after-limit.ts";
import { settledWithin } from "../time/settled-within.ts";
import { closedError, failureError, systemError, unansweredError } from "./sqlite-failures.ts";
import type { Failure, Opened, ThreadMessage, ThreadRequest, TransactionResult } from "./sqlite-messages.ts";
import type { SqliteThreads } from "./sqlite-threads.ts";
import { startThread } from "./start-thread.ts";

export interface SqliteOptions {
  readonly file: string;
  /** The statements that lead from each version of the schema to the next. */
  readonly migrations: readonly (readonly string[])[];
  /** Whether a missing file is an error instead of a new database. */
  readonly mustExist?: boolean;
  /** How long a transaction waits for another program that is writing. */
  readonly busyTimeoutMs?: number;
  /** How long a response of the thread may take before the disk counts as hung. */
  readonly answerWithinMs?: number;
  /** How long `close` waits for running transactions. */
  readonly closeWithinMs?: number;
  /**
   * The pool that provides the thread and takes it back; without it the thread is started for this database and ends
   * with it.
   */
  readonly threads?: SqliteThreads;
}

interface Waiting {
  readonly resolve: (rows: readonly (readonly Row[])[]) => void;
  readonly reject: (error: Error) => void;
  readonly stopTimer: () => void;
}

const defaultBusyMs = 5_000;
const defaultAnswerMs = 30_000;
const defaultCloseMs = 5_000;

/** An SQLite database in a thread of its own. */
export class SqliteDatabase implements Database {
  readonly opened: Opened;
  readonly #file: string;
  readonly #threads: SqliteThreads | undefined;
  readonly #worker: Worker;
  readonly #answerWithinMs: number;
  readonly #closeWithinMs: number;
  readonly #waiting = new Map<number, Waiting>();
  readonly #ended = Promise.withResolvers<void>();
  #lastId = 0;
  #isLost = false;
  #closing: Promise<void> | undefined;

  readonly #onMessage = (message: ThreadMessage): void => this.#take(message);
  readonly #onError = (error: unknown): void => this.#failAll(systemError(this.#file, error));
  readonly #onExit = (): void => this.#end();

  private constructor(options: SqliteOptions, worker: Worker, opened: Opened) {
    this.opened = opened;
    this.#file = options.file;
    this.#threads = options.threads;
    this.#worker = worker;
    this.#answerWithinMs = options.answerWithinMs ?? defaultAnswerMs;
    this.#closeWithinMs = options.closeWithinMs ?? defaultCloseMs;
    worker.on("message", this.#onMessage).on("error", this.#onError).on("exit", this.#onExit);
    // A running transaction keeps the process alive, an open database does not. A listener that is added later would
    // make it do so.
    worker.unref();
  }

  /**
   * Opens the file, creates it if it is missing, and migrates its schema. Rejects with ERR_STORE: it is in use by
   * another process, damaged, or made by a newer version, or the disk reports an error. It reads the whole file and has
   * no time limit; an aborted signal ends it as soon as the disk answers.
   */
  static async open(options: SqliteOptions, signal?: AbortSignal): Promise<SqliteDatabase> {
    const { file, migrations, mustExist = false, busyTimeoutMs = defaultBusyMs } = options;
    const worker = options.threads?.take() ?? startThread("src/database/sqlite-thread");
    worker.ref();
    const end = (): void => void worker.terminate();
    signal?.addEventListener("abort", end);
    try {
      const answered = untilOpened(worker, file);
      worker.postMessage({ open: { file, migrations, mustExist, busyTimeoutMs } } satisfies ThreadRequest);
      const opened = await answered;
      if ("reason" in opened) {
        // A thread that was ended meanwhile must not go back to the pool.
        release(worker, signal?.aborted === true ? undefined : options.threads);
        throw failureError(file, opened);
      }
      return new SqliteDatabase(options, worker, opened);
    } finally {
      signal?.removeEventListener("abort", end);
    }
  }

  /** Resolves when the thread has closed the file, which a hanging disk can delay beyond `close`. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Whether nothing can be stored any more: the thread was closed or has died, or its files were removed. */
  get isLost(): boolean {
    return this.#isLost;
  }

  transaction(statements: readonly Statement[]): Promise<readonly (readonly Row[])[]> {
    if (this.#closing !== undefined || this.#isLost) {
      return Promise.reject(closedError(this.#file));
    }
    return new Promise((resolve, reject) => {
      const id = (this.#lastId += 1);
      const stopTimer = afterLimit(this.#answerWithinMs, () => {
        this.#waiting.delete(id);
        reject(unansweredError(this.#file, this.#answerWithinMs));
      });
      this.#waiting.set(id, { resolve, reject, stopTimer });
      this.#worker.postMessage({ id, statements } satisfies ThreadRequest);
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (!this.#isLost) {
      this.#worker.postMessage("close" satisfies ThreadRequest);
    }
    if (!(await settledWithin(this.ended, this.#closeWithinMs))) {
      this.#failAll(closedError(this.#file));
      // A thread that waits for the disk ends when the disk answers, or with the process. What it has answered meanwhile
      // must not give it back to the pool: the next database would be opened in a thread that is ending.
      this.#worker.off("message", this.#onMessage);
      void this.#worker.terminate();
    }
  }

  #take(message: ThreadMessage): void {
    if (message === "closed") {
      this.#worker.off("message", this.#onMessage).off("error", this.#onError).off("exit", this.#onExit);
      release(this.#worker, this.#threads);
      this.#end();
      return;
    }
    for (const result of "results" in message ? message.results : []) {
      this.#settle(result);
    }
  }

  #end(): void {
    this.#isLost = true;
    this.#failAll(closedError(this.#file));
    this.#ended.resolve();
  }

  #settle(result: TransactionResult): void {
    const waiting = this.#waiting.get(result.id);
    if (waiting === undefined) {
      return;
    }
    this.#waiting.delete(result.id);
    waiting.stopTimer();
    if ("rows" in result) {
      waiting.resolve(result.rows);
    } else {
      this.#isLost ||= result.failure.reason === "replaced";
      waiting.reject(failureError(this.#file, result.failure));
    }
  }

  #failAll(error: Error): void {
    for (const { reject, stopTimer } of this.#waiting.values()) {
      stopTimer();
      reject(error);
    }
    this.#waiting.clear();
  }
}

/** Releases a thread that has no database open. */
function release(worker: Worker, threads: SqliteThreads | undefined): void {
  worker.unref();
  if (threads === undefined) {
    void worker.terminate();
  } else {
    threads.giveBack(worker);
  }
}

/** Waits until the thread has opened the file, or has reported why it could not. */
async function untilOpened(worker: Worker, file: string): Promise<Opened | Failure> {
  const { promise, resolve, reject } = Promise.withResolvers<Opened | Failure>();
  const onMessage = (message: ThreadMessage): void => {
    if (message === "closed" || "results" in message) {
      return;
    }
    resolve("opened" in message ? message.opened : message.failure);
  };
  const onError = (error: unknown): void => reject(systemError(file, error));
  const onExit = (): void => reject(closedError(file));
  worker.on("message", onMessage).on("error", onError).on("exit", onExit);
  try {
    return await promise;
  } finally {
    worker.off("message", onMessage).off("error", onError).off("exit", onExit);
  }
}
