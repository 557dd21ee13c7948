import type { Database, Row, Statement } from "./database.ts";
import { closedError } from "./sqlite-failures.ts";
import type { ToolRequest } from "./sqlite-messages.ts";
import { SqliteThread } from "./sqlite-threads.ts";

type Rows = readonly (readonly Row[])[];

/** Runs one transaction in a database, or closes it. */
type Run = (statements: readonly Statement[] | "close") => Promise<Rows>;

/**
 * A thread for the databases of one command: starting a thread takes ten times as long as opening a database in it. It starts
 * with the first database. When it has ended, nothing is opened any more: what a lock or a temporary database is for would be lost
 * without a word.
 */
export class ToolThread {
  #thread: SqliteThread | undefined;

  /** Rejects with ERR_STORE: damaged, in use, denied, or an error of the disk. */
  async open(request: ToolRequest): Promise<ToolDatabase> {
    this.#thread ??= new SqliteThread();
    const database = await this.#thread.open(request);
    return new ToolDatabase(request.file, async (statements) => {
      if (statements !== "close") {
        return database.run(statements);
      }
      await database.close();
      return [];
    });
  }

  /** Ends the thread; closes what is open, and rejects what is running. */
  async close(): Promise<void> {
    await this.#thread?.terminate();
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
