import type { Worker } from "node:worker_threads";
import type { Database, Row, Statement } from "./database.ts";
import { closedError, failureError, systemError } from "./sqlite-failures.ts";
import { startThread } from "./start-thread.ts";
import type { ToolAnswer, ToolRequest, ToolTask } from "./tool-messages.ts";

type Rows = readonly (readonly Row[])[];

/** Does something in the thread, for one database. */
type Run = (statements: ToolTask["statements"]) => Promise<Rows>;

interface Waiting {
  readonly file: string;
  readonly resolve: (rows: Rows) => void;
  readonly reject: (error: Error) => void;
}

/**
 * A thread for the databases of one command: starting a thread takes ten times as long as opening a database in it. It starts
 * with the first database.
 */
export class ToolThread {
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #hasEnded = false;
  #lastId = 0;
  #lastDatabase = 0;

  /** Rejects with ERR_STORE: damaged, in use, denied, or an error of the disk. */
  async open(request: ToolRequest): Promise<ToolDatabase> {
    const database = (this.#lastDatabase += 1);
    const run: Run = (statements) => this.#do({ database, request, statements });
    try {
      // The first transaction opens the file.
      await run([]);
    } catch (error) {
      await run("close").catch(() => undefined);
      throw error;
    }
    return new ToolDatabase(request.file, run);
  }

  /** Ends the thread; closes what is open, and rejects what is running. */
  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #do({ request, ...rest }: Omit<ToolTask, "id">): Promise<Rows> {
    if (this.#hasEnded) {
      return Promise.reject(closedError(request.file));
    }
    const worker = (this.#worker ??= this.#start());
    return new Promise((resolve, reject) => {
      const id = (this.#lastId += 1);
      this.#waiting.set(id, { file: request.file, resolve, reject });
      // A command that waits for a database keeps the process alive.
      worker.ref();
      worker.postMessage({ id, request, ...rest } satisfies ToolTask);
    });
  }

  #start(): Worker {
    const worker = startThread("src/database/tool-thread");
    worker.on("message", (answer: ToolAnswer) => this.#settle(answer, worker));
    worker.on("error", (error: unknown) => this.#end((file) => systemError(file, error)));
    worker.once("exit", () => this.#end(closedError));
    return worker;
  }

  #settle(answer: ToolAnswer, worker: Worker): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if (this.#waiting.size === 0) {
      worker.unref();
    }
    if ("rows" in answer) {
      waiting?.resolve(answer.rows);
    } else {
      waiting?.reject(failureError(waiting.file, answer.failure));
    }
  }

  /** Nothing is opened any more: what a lock or a temporary database is for would be lost without a word. */
  #end(explain: (file: string) => Error): void {
    this.#hasEnded = true;
    for (const { file, reject } of this.#waiting.values()) {
      reject(explain(file));
    }
    this.#waiting.clear();
  }
}

/**
 * A database for programs that are not its owner: to read a store's database while its owner may be writing, to write a little
 * to it, to prevent others from opening it, or a temporary one that is deleted when it is closed. Unlike for an owner there is
 * no time limit for the disk: whoever runs a program can end it.
 */
export class ToolDatabase implements Database {
  readonly #file: string;
  readonly #run: Run;
  #isClosed = false;

  constructor(file: string, run: Run) {
    this.#file = file;
    this.#run = run;
  }

  async transaction(statements: readonly Statement[]): Promise<Rows> {
    if (this.#isClosed) {
      throw closedError(this.#file);
    }
    return await this.#run(statements);
  }

  /** Returns the rows of one statement. */
  async select(sql: string, values: Statement["values"] = []): Promise<readonly Row[]> {
    const [rows = []] = await this.transaction([{ sql, values }]);
    return rows;
  }

  async close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true;
      await this.#run("close");
    }
  }
}
