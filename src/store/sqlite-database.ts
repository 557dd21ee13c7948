import { Worker } from "node:worker_threads";
import type { Database, Row, Statement } from "./database.ts";
import { settledWithin } from "./settled-within.ts";
import { closedError, failureError, threadError, unansweredError } from "./sqlite-failures.ts";
import type { Opened, OpenRequest, ThreadMessage, TransactionResult } from "./sqlite-messages.ts";

export interface SqliteOptions {
  readonly file: string;
  /** Statements that lead from each version of the schema to the next. */
  readonly migrations: readonly (readonly string[])[];
  /** Whether a missing file is an error instead of a new database. */
  readonly mustExist?: boolean;
  /** How long a transaction waits for another program that is writing. */
  readonly busyTimeoutMs?: number;
  /** How long the disk may take for one answer until the database counts as hung. */
  readonly answerWithinMs?: number;
  /** How long close waits for what is open. */
  readonly closeWithinMs?: number;
}

interface Waiting {
  readonly resolve: (rows: readonly (readonly Row[])[]) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

const defaultBusyMs = 5_000;
const defaultAnswerMs = 30_000;
const defaultCloseMs = 5_000;

/** A SQLite database in a thread of its own. */
export class SqliteDatabase implements Database {
  readonly opened: Opened;
  /** Resolves when the thread has let go of the file; a disk that hangs can hold that up after `close`. */
  readonly ended: Promise<void>;
  readonly #file: string;
  readonly #worker: Worker;
  readonly #answerWithinMs: number;
  readonly #closeWithinMs: number;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;
  #isLost = false;
  #closing: Promise<void> | undefined;

  private constructor(options: SqliteOptions, worker: Worker, opened: Opened) {
    this.opened = opened;
    this.#file = options.file;
    this.#worker = worker;
    this.#answerWithinMs = options.answerWithinMs ?? defaultAnswerMs;
    this.#closeWithinMs = options.closeWithinMs ?? defaultCloseMs;
    this.ended = new Promise((resolve) => worker.once("exit", () => resolve()));
    worker.on("message", (message: ThreadMessage) => this.#take(message));
    worker.on("error", (error: unknown) => this.#failAll(threadError(this.#file, error)));
    worker.once("exit", () => {
      this.#isLost = true;
      this.#failAll(closedError(this.#file));
    });
    // What waits for an answer keeps the process, an open database does not. A listener added later would make it do so.
    worker.unref();
  }

  /**
   * Opens the file, makes it where it is missing and brings its schema up to date. Rejects with ERR_STORE: in use by
   * another process, damaged, made by a newer version, or whatever the disk says. It reads the whole file, and has no time
   * limit; an aborted signal ends it as soon as the disk answers.
   */
  static async open(options: SqliteOptions, signal?: AbortSignal): Promise<SqliteDatabase> {
    const { file, migrations, mustExist = false, busyTimeoutMs = defaultBusyMs } = options;
    const worker = new Worker(threadFile(), {
      workerData: { file, migrations, mustExist, busyTimeoutMs } satisfies OpenRequest,
      // Node.js 22 calls its SQLite experimental, once for each process that uses it. The process's own options are not passed on: a
      // thread refuses those of V8, such as --max-old-space-size.
      execArgv: ["--disable-warning=ExperimentalWarning"],
    });
    const end = (): void => void worker.terminate();
    signal?.addEventListener("abort", end);
    try {
      return new SqliteDatabase(options, worker, await untilOpened(worker, file));
    } catch (error) {
      await worker.terminate();
      throw error;
    } finally {
      signal?.removeEventListener("abort", end);
    }
  }

  /** Whether nothing can be stored here any more: the thread was closed, has died, or its files were taken away. */
  get isLost(): boolean {
    return this.#isLost;
  }

  transaction(statements: readonly Statement[]): Promise<readonly (readonly Row[])[]> {
    if (this.#closing !== undefined || this.#isLost) {
      return Promise.reject(closedError(this.#file));
    }
    return new Promise((resolve, reject) => {
      const id = (this.#lastId += 1);
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(unansweredError(this.#file, this.#answerWithinMs));
      }, this.#answerWithinMs);
      this.#waiting.set(id, { resolve, reject, timer });
      this.#worker.postMessage({ id, statements });
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#worker.postMessage("close");
    await settledWithin(this.ended, this.#closeWithinMs);
    this.#failAll(closedError(this.#file));
    // A thread that hangs in the disk ends when the disk answers, or with the process.
    void this.#worker.terminate();
  }

  #take(message: ThreadMessage): void {
    for (const result of "results" in message ? message.results : []) {
      this.#settle(result);
    }
  }

  #settle(result: TransactionResult): void {
    const waiting = this.#waiting.get(result.id);
    if (waiting === undefined) {
      return;
    }
    this.#waiting.delete(result.id);
    clearTimeout(waiting.timer);
    if ("rows" in result) {
      waiting.resolve(result.rows);
    } else {
      this.#isLost ||= result.failure.reason === "replaced";
      waiting.reject(failureError(this.#file, result.failure));
    }
  }

  #failAll(error: Error): void {
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(error);
    }
    this.#waiting.clear();
  }
}

/** The thread's module: TypeScript in the sources, JavaScript in the package. */
function threadFile(): URL {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  return new URL(`./sqlite-thread.${extension}`, import.meta.url);
}

/** Waits until the thread has opened the file. */
async function untilOpened(worker: Worker, file: string): Promise<Opened> {
  const { promise, resolve, reject } = Promise.withResolvers<Opened>();
  const onMessage = (message: ThreadMessage): void => {
    if ("opened" in message) {
      resolve(message.opened);
    } else if ("failure" in message) {
      reject(failureError(file, message.failure));
    }
  };
  const onError = (error: unknown): void => reject(threadError(file, error));
  const onExit = (): void => reject(closedError(file));
  worker.on("message", onMessage).on("error", onError).on("exit", onExit);
  try {
    return await promise;
  } finally {
    worker.off("message", onMessage).off("error", onError).off("exit", onExit);
  }
}
