import { resolve } from "node:path";
import type { Database } from "./database.ts";
import { RecordArrivals } from "./record-arrivals.ts";
import { settledWithin } from "./settled-within.ts";
import { unansweredError } from "./sqlite-failures.ts";
import { SqliteThreads } from "./sqlite-threads.ts";
import { StoreDatabase, type StoreDatabaseOptions } from "./store-database.ts";
import type { Worker } from "./worker-lease.ts";

/** A use of a database; the last one to release it closes it. */
export interface DatabaseLease {
  readonly database: Database;
  /** Notifies of the records that this process puts into it. */
  readonly arrivals: RecordArrivals;
  /** What this process is to the database. */
  readonly worker: Worker;
  /** Resolves within a few seconds, also when the disk hangs; may be called twice. */
  release(): Promise<void>;
}

interface Shared {
  readonly database: Promise<StoreDatabase>;
  readonly arrivals: RecordArrivals;
  users: number;
}

interface StoreDatabasesOptions extends Omit<StoreDatabaseOptions, "file"> {
  /** How long one user waits until the database is open, while its whole file is checked. Opening itself goes on. */
  readonly openWithinMs?: number;
}

/**
 * The embedded databases that this process has open. A file can be open only once, so nodes with the same one share it.
 */
export class StoreDatabases {
  readonly #options: StoreDatabasesOptions;
  readonly #openWithinMs: number;
  readonly #open = new Map<string, Shared>();
  /** Databases that are being closed, until their threads have closed the files. */
  readonly #closing = new Map<string, Promise<void>>();

  constructor({ openWithinMs = 60_000, ...options }: StoreDatabasesOptions = {}) {
    this.#options = { threads: new SqliteThreads(), ...options };
    this.#openWithinMs = openWithinMs;
  }

  /** Opens the file; creates it and its folder if they are missing. Rejects with ERR_STORE. */
  async open(file: string): Promise<DatabaseLease> {
    const path = resolve(file);
    const shared = this.#open.get(path) ?? this.#begin(path);
    shared.users += 1;
    if (!(await settledWithin(shared.database, this.#openWithinMs))) {
      void this.#leave(path, shared);
      throw unansweredError(path, this.#openWithinMs);
    }
    try {
      const database = await shared.database;
      let released: Promise<void> | undefined;
      const release = (): Promise<void> => (released ??= this.#leave(path, shared));
      const { arrivals } = shared;
      return { database, arrivals, worker: database.worker, release };
    } catch (error) {
      await this.#leave(path, shared);
      throw error;
    }
  }

  #begin(path: string): Shared {
    const shared: Shared = { database: this.#openFile(path), arrivals: new RecordArrivals(), users: 0 };
    this.#open.set(path, shared);
    return shared;
  }

  async #openFile(file: string): Promise<StoreDatabase> {
    // A deploy closes the old node and opens the new one at once.
    await this.#closing.get(file);
    return StoreDatabase.open({ ...this.#options, file });
  }

  async #leave(path: string, shared: Shared): Promise<void> {
    shared.users -= 1;
    const database = await shared.database.catch(() => undefined);
    // Another user may have come while it was being opened.
    if (shared.users > 0 || this.#open.get(path) !== shared) {
      return;
    }
    this.#open.delete(path);
    if (database === undefined) {
      return;
    }
    const ended = database.ended().finally(() => this.#closing.delete(path));
    this.#closing.set(path, ended);
    await database.close();
  }
}
