import { randomUUID } from "node:crypto";
import { databaseName, databaseText, type DatabaseLocation } from "./database-location.ts";
import type { Database } from "./database.ts";
import { unansweredPostgresError } from "./postgres-failures.ts";
import { RecordArrivals } from "./inbox.ts";
import { settledWithin } from "../time/settled-within.ts";
import { SharedDatabase, type SharedDatabaseOptions } from "./shared-database.ts";
import { unansweredError } from "./sqlite-failures.ts";
import { SqliteThreads } from "./sqlite-threads.ts";
import { StoreDatabase, type StoreDatabaseOptions } from "./store-database.ts";
import type { Worker } from "./worker-lease.ts";

const defaultOpenMs = 60_000;
/** Longer than users pause between two attempts: otherwise a large file would be checked again and again. */
const defaultKeepMs = 120_000;

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

/** A database of either kind, as it is open in this process. */
interface OpenDatabase extends Database {
  readonly worker: Worker;
  /** Resolves when nothing of the database is open any more, which can be later than its `close`. */
  ended(): Promise<void>;
}

interface Shared {
  readonly database: Promise<OpenDatabase>;
  readonly arrivals: RecordArrivals;
  users: number;
}

type PostgresOptions = Omit<SharedDatabaseOptions, "address" | "workerId">;

interface StoreDatabasesOptions extends Omit<StoreDatabaseOptions, "file"> {
  /** How long one user waits until the database is open, while its whole file is checked. Opening itself goes on. */
  readonly openWithinMs?: number;
  /** How long a database stays open that was opened when all users had given up. */
  readonly keepMs?: number;
  readonly postgres?: PostgresOptions;
}

/**
 * The databases of stores that this process has open. A file can be open only once, and a process is one worker on a
 * PostgreSQL database, so nodes with the same one share it.
 */
export class StoreDatabases {
  readonly #fileOptions: Omit<StoreDatabaseOptions, "file">;
  readonly #postgresOptions: PostgresOptions;
  readonly #openWithinMs: number;
  readonly #keepMs: number;
  readonly #open = new Map<string, Shared>();
  /** Databases that are being closed, until nothing of them is open any more. */
  readonly #closing = new Map<string, Promise<void>>();
  /** Which worker this process is on each PostgreSQL database, for as long as it runs. */
  readonly #workerIds = new Map<string, string>();

  constructor({
    openWithinMs = defaultOpenMs,
    keepMs = defaultKeepMs,
    postgres = {},
    ...options
  }: StoreDatabasesOptions = {}) {
    this.#fileOptions = { threads: new SqliteThreads(), ...options };
    this.#postgresOptions = postgres;
    this.#openWithinMs = openWithinMs;
    this.#keepMs = keepMs;
  }

  /** Opens the database; creates the file and its folder, or the tables, if they are missing. Rejects with ERR_STORE. */
  async open(location: DatabaseLocation): Promise<DatabaseLease> {
    const key = databaseText(location);
    const shared = this.#open.get(key) ?? this.#begin(key, location);
    shared.users += 1;
    if (!(await settledWithin(shared.database, this.#openWithinMs))) {
      void this.#giveUp(key, shared);
      const explain = location.kind === "file" ? unansweredError : unansweredPostgresError;
      throw explain(databaseName(location), this.#openWithinMs);
    }
    try {
      const database = await shared.database;
      let released: Promise<void> | undefined;
      const release = (): Promise<void> => (released ??= this.#leave(key, shared));
      const { arrivals } = shared;
      return { database, arrivals, worker: database.worker, release };
    } catch (error) {
      await this.#leave(key, shared);
      throw error;
    }
  }

  #begin(key: string, location: DatabaseLocation): Shared {
    const database = this.#openLocation(key, location);
    const shared: Shared = { database, arrivals: new RecordArrivals(), users: 0 };
    this.#open.set(key, shared);
    return shared;
  }

  async #openLocation(key: string, location: DatabaseLocation): Promise<OpenDatabase> {
    // A deploy closes the old node and opens the new one at once.
    await this.#closing.get(key);
    if (location.kind === "file") {
      return StoreDatabase.open({ ...this.#fileOptions, file: key });
    }
    // The nodes of the deploy before have left jobs and records in its name, and some records wait in the memory.
    const workerId = this.#workerIds.get(key) ?? randomUUID();
    this.#workerIds.set(key, workerId);
    const { kind: _kind, ...place } = location;
    return SharedDatabase.open({ ...this.#postgresOptions, ...place, workerId });
  }

  /** Who gives up comes again after a while. */
  async #giveUp(key: string, shared: Shared): Promise<void> {
    shared.users -= 1;
    try {
      await shared.database;
    } catch {
      await this.#closeUnused(key, shared);
      return;
    }
    setTimeout(() => void this.#closeUnused(key, shared), this.#keepMs).unref();
  }

  async #leave(key: string, shared: Shared): Promise<void> {
    shared.users -= 1;
    await this.#closeUnused(key, shared);
  }

  async #closeUnused(key: string, shared: Shared): Promise<void> {
    const database = await shared.database.catch(() => undefined);
    // Another user may have come while it was being opened.
    if (shared.users > 0 || this.#open.get(key) !== shared) {
      return;
    }
    this.#open.delete(key);
    if (database === undefined) {
      return;
    }
    const closed = database.close();
    const ended = closed.then(() => database.ended()).finally(() => this.#closing.delete(key));
    this.#closing.set(key, ended);
    await closed;
  }
}
