import type { Database, Row, Statement } from "./database.ts";
import { migrations } from "./schema.ts";
import { settledWithin } from "../time/settled-within.ts";
import { SqliteDatabase, type SqliteOptions } from "./sqlite-database.ts";
import { failureError, unansweredError } from "./sqlite-failures.ts";
import { identifyStore } from "./store-identity.ts";
import type { Worker } from "./worker-lease.ts";

export type StoreDatabaseOptions = Omit<SqliteOptions, "migrations" | "mustExist">;

const defaultAnswerMs = 30_000;

/** The embedded database of a store. If its thread has ended, the next transaction opens it again. */
export class StoreDatabase implements Database {
  /** Created with the database. */
  readonly storeId: string;
  readonly #options: StoreDatabaseOptions;
  readonly #closing = new AbortController();
  #current: SqliteDatabase;
  #reopening: Promise<SqliteDatabase> | undefined;

  private constructor(options: StoreDatabaseOptions, current: SqliteDatabase, storeId: string) {
    this.#options = options;
    this.#current = current;
    this.storeId = storeId;
  }

  /** Opens the file and makes it where it is missing. Rejects with ERR_STORE; has no time limit. */
  static async open(options: StoreDatabaseOptions): Promise<StoreDatabase> {
    const { database, storeId } = await openIdentified(options, false);
    return new StoreDatabase(options, database, storeId);
  }

  get opened(): SqliteDatabase["opened"] {
    return this.#current.opened;
  }

  /** A file has one owner, and its jobs and packages belong to whichever process that is. */
  get worker(): Worker {
    return { id: this.storeId, isAlone: true };
  }

  async transaction(statements: readonly Statement[]): Promise<readonly (readonly Row[])[]> {
    const isLost = this.#current.isLost && !this.#closing.signal.aborted;
    const database = isLost ? await this.#reopened() : this.#current;
    return database.transaction(statements);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#current.close();
  }

  /** Resolves when no thread has the file open any more, which a hanging disk can delay beyond `close`. */
  async ended(): Promise<void> {
    await this.#reopening?.catch(() => undefined);
    await this.#current.ended;
  }

  /** All transactions wait for a hanging disk at the same time, each as long as for any response. */
  async #reopened(): Promise<SqliteDatabase> {
    this.#reopening ??= this.#reopen().finally(() => {
      this.#reopening = undefined;
    });
    const { file, answerWithinMs = defaultAnswerMs } = this.#options;
    const reopening = this.#reopening;
    if (!(await settledWithin(reopening, answerWithinMs))) {
      throw unansweredError(file, answerWithinMs);
    }
    return reopening;
  }

  /** The users have read from this store: another database in its place, or an empty one, is no replacement. */
  async #reopen(): Promise<SqliteDatabase> {
    const { signal } = this.#closing;
    await this.#current.ended;
    const { database, storeId } = await openIdentified(this.#options, true, signal);
    this.#current = database;
    if (signal.aborted || storeId !== this.storeId) {
      await database.close();
    }
    if (storeId !== this.storeId) {
      throw failureError(this.#options.file, { reason: "replaced" });
    }
    return database;
  }
}

interface Identified {
  readonly database: SqliteDatabase;
  readonly storeId: string;
}

/** Opens the file and reads the id of its store, which is created the first time. */
async function openIdentified(
  options: StoreDatabaseOptions,
  mustExist: boolean,
  signal?: AbortSignal,
): Promise<Identified> {
  const database = await SqliteDatabase.open({ ...options, migrations, mustExist }, signal);
  try {
    const { storeId } = await identifyStore(database);
    return { database, storeId };
  } catch (error) {
    await database.close();
    throw error;
  }
}
