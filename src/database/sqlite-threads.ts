import type { Worker } from "node:worker_threads";
import { afterLimit } from "../time/after-limit.ts";
import type { Row, Statement } from "./database.ts";
import { closedError, failureError, systemError, unansweredError } from "./sqlite-failures.ts";
import type {
  Opened,
  OwnRequest,
  ThreadAnswer,
  ThreadRequest,
  ThreadTask,
  ToolRequest,
} from "./sqlite-messages.ts";
import { startThread } from "./start-thread.ts";

type Rows = readonly (readonly Row[])[];

/** A database that a thread has open. */
export interface ThreadDatabase {
  /** Null if this process does not own it. */
  readonly opened: Opened | null;
  /** Runs one transaction. Rejects with ERR_STORE, also if there is no answer within this time. */
  run(statements: readonly Statement[], withinMs?: number): Promise<Rows>;
  /** To be called when a database that was opened unchecked was checked. Rejects with ERR_STORE. */
  checked(): Promise<void>;
  close(): Promise<void>;
}

interface Waiting {
  readonly file: string;
  readonly resolve: (answer: ThreadAnswer) => void;
  readonly reject: (error: Error) => void;
  readonly stopTimer: () => void;
}

/** A thread that can have several databases open. It keeps the process alive only while it has something to answer. */
export class SqliteThread {
  readonly #worker: Worker = startThread("src/database/sqlite-thread");
  readonly #waiting = new Map<number, Waiting>();
  readonly #ended = Promise.withResolvers<void>();
  #hasEnded = false;
  #lastId = 0;
  #lastDatabase = 0;

  constructor() {
    this.#worker.on("message", (answers: readonly ThreadAnswer[]) =>
      answers.forEach((answer) => this.#settle(answer)),
    );
    this.#worker.on("error", (error: unknown) => this.#fail((file) => systemError(file, error)));
    this.#worker.once("exit", () => {
      this.#fail(closedError);
      this.#ended.resolve();
    });
    // A listener that is added later would keep the process alive.
    this.#worker.unref();
  }

  /** Resolves when the thread has ended, and has no file open any more. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Whether nothing can be opened any more. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Rejects with ERR_STORE: damaged, in use, denied, or an error of the disk. It has no time limit. */
  async open(request: OwnRequest | ToolRequest): Promise<ThreadDatabase> {
    const database = (this.#lastDatabase += 1);
    const ask = (task: ThreadTask, withinMs?: number): Promise<ThreadAnswer> =>
      this.#ask({ id: (this.#lastId += 1), database, ...task }, request.file, withinMs);
    const answer = await ask({ open: request });
    return {
      opened: "opened" in answer ? answer.opened : null,
      run: async (statements, withinMs) => {
        const done = await ask({ statements }, withinMs);
        return "rows" in done ? done.rows : [];
      },
      checked: async () => {
        await ask({ checked: true });
      },
      close: async () => {
        await ask({ close: true });
      },
    };
  }

  /** Ends the thread, and rejects what is running. A thread that waits for the disk ends when the disk answers, or with the process. */
  terminate(): Promise<unknown> {
    this.#fail(closedError);
    return this.#worker.terminate();
  }

  #ask(request: ThreadRequest, file: string, withinMs?: number): Promise<ThreadAnswer> {
    if (this.#hasEnded) {
      return Promise.reject(closedError(file));
    }
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.#forget(request.id);
        reject(unansweredError(file, withinMs ?? 0));
      };
      const stopTimer = withinMs === undefined ? (): void => undefined : afterLimit(withinMs, giveUp);
      this.#waiting.set(request.id, { file, resolve, reject, stopTimer });
      this.#worker.ref();
      this.#worker.postMessage(request);
    });
  }

  #settle(answer: ThreadAnswer): void {
    const waiting = this.#forget(answer.id);
    if ("failure" in answer) {
      waiting?.reject(failureError(waiting.file, answer.failure));
    } else {
      waiting?.resolve(answer);
    }
  }

  #forget(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    waiting?.stopTimer();
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) {
      this.#worker.unref();
    }
    return waiting;
  }

  #fail(explain: (file: string) => Error): void {
    this.#hasEnded = true;
    for (const { file, reject, stopTimer } of this.#waiting.values()) {
      stopTimer();
      reject(explain(file));
    }
    this.#waiting.clear();
    this.#worker.unref();
  }
}

/** Longer than a deploy takes to open the next database; after that an idle thread only takes memory. */
const defaultIdleMs = 10_000;

/**
 * A pool of threads for databases, one for each open database. Starting a thread takes ten times as long as opening a
 * database in it, and a deploy closes and opens every store: a thread that has closed its database is kept for a while
 * for the next.
 */
export class SqliteThreads {
  readonly #idleMs: number;
  readonly #idle: { readonly thread: SqliteThread; readonly timer: NodeJS.Timeout }[] = [];

  constructor({ idleMs = defaultIdleMs }: { readonly idleMs?: number } = {}) {
    this.#idleMs = idleMs;
  }

  /** Returns a thread that has no database open. */
  take(): SqliteThread {
    const idle = this.#idle.pop();
    clearTimeout(idle?.timer);
    return idle === undefined ? new SqliteThread() : idle.thread.hasEnded ? this.take() : idle.thread;
  }

  /** Keeps a thread that has closed its database. */
  giveBack(thread: SqliteThread): void {
    const timer = setTimeout(() => {
      this.#idle.splice(this.#idle.indexOf(idle), 1);
      void thread.terminate();
    }, this.#idleMs).unref();
    const idle = { thread, timer };
    this.#idle.push(idle);
  }
}
