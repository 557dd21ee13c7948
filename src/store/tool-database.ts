import type { Worker } from "node:worker_threads";
import type { Database, Row, Statement } from "./database.ts";
import { closedError, failureError, systemError } from "./sqlite-failures.ts";
import { startThread } from "./start-thread.ts";
import type { ToolAnswer, ToolRequest, ToolTransaction } from "./tool-messages.ts";

interface Waiting {
  readonly resolve: (rows: readonly (readonly Row[])[]) => void;
  readonly reject: (error: Error) => void;
}

/**
 * A database for programs that are not its owner, in a thread of its own: to read a store's database while its owner
 * may be writing, to write a little to it, to prevent others from opening it, or a temporary one that is deleted when
 * it is closed. Unlike for an owner there is no time limit for the disk: whoever runs a program can end it.
 */
export class ToolDatabase implements Database {
  readonly #file: string;
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;
  #ended: Error | undefined;

  private constructor(file: string, worker: Worker) {
    this.#file = file;
    this.#worker = worker;
    worker.on("message", (answer: ToolAnswer) => this.#settle(answer));
    worker.on("error", (error: unknown) => this.#end(systemError(file, error)));
    worker.once("exit", () => this.#end(closedError(file)));
  }

  /** Rejects with ERR_STORE: damaged, in use, denied, or an error of the disk. */
  static async open(request: ToolRequest): Promise<ToolDatabase> {
    const worker = startThread("src/store/tool-thread", request);
    const database = new ToolDatabase(request.file, worker);
    try {
      // The thread opens the file before it does anything else.
      await database.transaction([]);
      return database;
    } catch (error) {
      await worker.terminate();
      throw error;
    }
  }

  transaction(statements: readonly Statement[]): Promise<readonly (readonly Row[])[]> {
    if (this.#ended !== undefined) {
      return Promise.reject(this.#ended);
    }
    return new Promise((resolve, reject) => {
      const id = (this.#lastId += 1);
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, statements } satisfies ToolTransaction);
    });
  }

  /** Returns the rows of one statement. */
  async select(sql: string, values: Statement["values"] = []): Promise<readonly Row[]> {
    const [rows = []] = await this.transaction([{ sql, values }]);
    return rows;
  }

  async close(): Promise<void> {
    if (this.#ended === undefined) {
      const exited = new Promise<void>((resolve) => this.#worker.once("exit", () => resolve()));
      this.#worker.postMessage("close");
      await exited;
    }
  }

  #settle(answer: ToolAnswer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if ("rows" in answer) {
      waiting?.resolve(answer.rows);
    } else {
      waiting?.reject(failureError(this.#file, answer.failure));
    }
  }

  #end(error: Error): void {
    this.#ended ??= error;
    for (const { reject } of this.#waiting.values()) {
      reject(this.#ended);
    }
    this.#waiting.clear();
  }
}
