import { Worker } from "node:worker_threads";
import type { Database, Row, Statement } from "./database.ts";
import { closedError, openError, statementError, threadError, unansweredError } from "./sqlite-failures.ts";
import type { OpenRequest, ThreadMessage, TransactionResult } from "./sqlite-messages.ts";

export interface SqliteOptions extends OpenRequest {
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

const defaultAnswerMs = 30_000;
const defaultCloseMs = 5_000;

/** A SQLite database in a thread of its own. */
export class SqliteDatabase implements Database {
  readonly #file: string;
  readonly #worker: Worker;
  readonly #answerWithinMs: number;
  readonly #closeWithinMs: number;
  readonly #waiting = new Map<number, Waiting>();
  readonly #ended: Promise<void>;
  #lastId = 0;
  #closing: Promise<void> | undefined;

  private constructor(options: SqliteOptions, worker: Worker) {
    this.#file = options.file;
    this.#worker = worker;
    this.#answerWithinMs = options.answerWithinMs ?? defaultAnswerMs;
    this.#closeWithinMs = options.closeWithinMs ?? defaultCloseMs;
    this.#ended = new Promise((resolve) => worker.once("exit", () => resolve()));
    worker.on("message", (message: ThreadMessage) => this.#take(message));
    worker.on("error", (error: unknown) => this.#failAll(threadError(this.#file, error)));
    worker.once("exit", () => this.#failAll(closedError(this.#file)));
  }

  /**
   * Opens the file, makes it where it is missing and brings its schema up to date. Rejects with ERR_STORE: in use by
   * another process, damaged, made by a newer version, or whatever the disk says.
   */
  static async open(options: SqliteOptions): Promise<SqliteDatabase> {
    const { file, migrations, answerWithinMs = defaultAnswerMs } = options;
    const worker = new Worker(threadFile(), {
      workerData: { file, migrations } satisfies OpenRequest,
      // Node.js 22 calls its SQLite experimental, once for each process that uses it.
      execArgv: [...process.execArgv, "--disable-warning=ExperimentalWarning"],
    });
    worker.unref();
    try {
      await firstMessage(worker, file, answerWithinMs);
    } catch (error) {
      void worker.terminate();
      throw error;
    }
    return new SqliteDatabase(options, worker);
  }

  transaction(statements: readonly Statement[]): Promise<readonly (readonly Row[])[]> {
    if (this.#closing !== undefined) {
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
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.#closeWithinMs);
    });
    await Promise.race([this.#ended, late]);
    clearTimeout(timer);
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
      waiting.reject(statementError(this.#file, result.failure));
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
function firstMessage(worker: Worker, file: string, withinMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error): void => {
      clearTimeout(timer);
      worker.off("message", onMessage).off("error", onError).off("exit", onExit);
      if (error === undefined) {
        resolve();
      } else {
        reject(error);
      }
    };
    const onMessage = (message: ThreadMessage): void => {
      settle("opened" in message && !message.opened ? openError(file, message.failure) : undefined);
    };
    const onError = (error: unknown): void => settle(threadError(file, error));
    const onExit = (): void => settle(closedError(file));
    const timer = setTimeout(() => settle(unansweredError(file, withinMs)), withinMs);
    worker.on("message", onMessage).on("error", onError).on("exit", onExit);
  });
}
