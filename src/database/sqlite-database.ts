import type { Database, Migrations, Row, Statement } from "./database.ts";
import { type DimensionerError, isDimensionerError } from "../errors/dimensioner-error.ts";
import { settledWithin } from "../time/after-limit.ts";
import { closedError, failureError, systemError } from "./sqlite-failures.ts";
import { checkStatement, type Opened } from "./sqlite-messages.ts";
import { SqliteThread, type SqliteThreads, type ThreadDatabase } from "./sqlite-threads.ts";

export interface SqliteOptions {
  readonly file: string;
  /** The statements that lead from each version of the schema to the next. */
  readonly migrations: Migrations;
  /** Whether a missing file is an error instead of a new database. */
  readonly mustExist?: boolean;
  /** How long a transaction waits for another program that is writing. */
  readonly busyTimeoutMs?: number;
  /** How long a response of the thread may take before the disk counts as hung. */
  readonly answerWithinMs?: number;
  /** How long `close` waits for running transactions. */
  readonly closeWithinMs?: number;
  /** From which size on a file is checked while it is used: the check of a smaller one takes less time than the start of a thread. */
  readonly besideFromBytes?: number;
  /**
   * The pool that provides the thread and takes it back; without it the thread is started for this database and ends
   * with it.
   */
  readonly threads?: SqliteThreads;
}

const defaultBusyMs = 5_000;
const defaultAnswerMs = 30_000;
const defaultCloseMs = 5_000;
const defaultBesideFromBytes = 16 * 1024 * 1024;

/** An SQLite database that this process owns, in a thread of its own. */
export class SqliteDatabase implements Database {
  readonly opened: Opened;
  readonly #options: SqliteOptions;
  readonly #thread: SqliteThread;
  readonly #own: ThreadDatabase;
  readonly #ended = Promise.withResolvers<void>();
  /**
   * Resolves when the whole file was found undamaged. Rejects with ERR_STORE if it was not, or could not be read, or was closed before:
   * then nothing is written any more, and the file is as it was when it was opened, with a longer log.
   */
  readonly checked: Promise<void>;
  /** Why the check has ended the use of the database. */
  #damage: DimensionerError | undefined;
  #isLost = false;
  #closing: Promise<void> | undefined;

  private constructor(options: SqliteOptions, thread: SqliteThread, own: ThreadDatabase, opened: Opened) {
    this.opened = opened;
    this.#options = options;
    this.#thread = thread;
    this.#own = own;
    void thread.ended.then(() => this.#end());
    this.checked = opened.uncheckedBytes === null ? Promise.resolve() : this.#check();
    // Whoever does something that must not be done to a damaged file waits for it.
    this.checked.catch(() => undefined);
  }

  /**
   * Opens the file, creates it if it is missing, and migrates its schema. Rejects with ERR_STORE: it is in use by
   * another process, damaged, or made by a newer version, or the disk reports an error. It reads the whole file, or
   * leaves that to `checked`, and has no time limit; an aborted signal ends it as soon as the disk answers.
   */
  static async open(options: SqliteOptions, signal?: AbortSignal): Promise<SqliteDatabase> {
    const { file, migrations, mustExist = false, busyTimeoutMs = defaultBusyMs } = options;
    const { besideFromBytes = defaultBesideFromBytes } = options;
    const thread = options.threads?.take() ?? new SqliteThread();
    const end = (): void => void thread.terminate();
    signal?.addEventListener("abort", end);
    try {
      const own = await thread.open({
        as: "own",
        file,
        migrations,
        mustExist,
        busyTimeoutMs,
        besideFromBytes,
      });
      if (own.opened === null) {
        throw closedError(file);
      }
      return new SqliteDatabase(options, thread, own, own.opened);
    } catch (error) {
      if (thread.hasEnded) {
        await thread.ended;
      }
      release(thread, options.threads);
      throw error;
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

  async transaction(statements: readonly Statement[]): Promise<readonly (readonly Row[])[]> {
    if (this.#damage !== undefined) {
      throw this.#damage;
    }
    if (this.#closing !== undefined || this.#isLost) {
      throw closedError(this.#options.file);
    }
    try {
      return await this.#own.run(statements, this.#options.answerWithinMs ?? defaultAnswerMs);
    } catch (error) {
      if (isDimensionerError(error) && error.sentence === "storeReplaced") {
        this.#isLost = true;
        void this.close();
      }
      throw error;
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Reads the whole file in another thread, as long as it is open. Nothing has it open any more when this rejects. */
  async #check(): Promise<void> {
    const { file } = this.#options;
    const thread = new SqliteThread();
    const end = (): void => void thread.terminate();
    void this.ended.then(end);
    try {
      const reader = await thread.open({ as: "check", file });
      const [[row = {}] = []] = await reader.run([{ sql: checkStatement }]);
      // Only the last one that closes the file moves the log into it.
      await reader.close();
      const said = String(Object.values(row)[0]);
      if (said !== "ok") {
        throw failureError(file, { reason: "damaged", message: said });
      }
      await this.#own.checked();
    } catch (error) {
      if (this.#closing === undefined) {
        this.#damage = isDimensionerError(error) ? error : systemError(file, error);
        this.#isLost = true;
        await this.close();
      }
      await thread.terminate();
      throw error;
    }
    end();
  }

  async #close(): Promise<void> {
    const closed = this.#closeFile();
    if (!(await settledWithin(closed, this.#options.closeWithinMs ?? defaultCloseMs))) {
      // What the thread answers from now on does not count: the next database would be opened in a thread that is ending.
      void this.#thread.terminate();
    }
  }

  async #closeFile(): Promise<void> {
    try {
      await this.#own.close();
    } catch {
      // The thread has ended, or ends when the disk answers.
      await this.ended;
      return;
    }
    release(this.#thread, this.#options.threads);
    this.#end();
  }

  #end(): void {
    this.#isLost = true;
    this.#ended.resolve();
  }
}

/** Releases a thread that has no database open. */
function release(thread: SqliteThread, threads: SqliteThreads | undefined): void {
  if (threads === undefined || thread.hasEnded) {
    void thread.terminate();
  } else {
    threads.giveBack(thread);
  }
}
