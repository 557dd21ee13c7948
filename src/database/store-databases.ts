import { randomUUID } from "node:crypto";
import { stat } from "node:fs/promises";
import { type DimensionerError, isDimensionerError } from "../errors/dimensioner-error.ts";
import { settledWithin } from "../time/after-limit.ts";
import {
  type Database,
  type Row,
  type Statement,
  type DatabaseLocation,
  databaseName,
  databaseText,
} from "./database.ts";
import { RecordArrivals } from "./inbox.ts";
import { LogTable } from "./log-table.ts";
import { unansweredPostgresError } from "./postgres-connection.ts";
import { PostgresDatabase, type PostgresOptions } from "./postgres-database.ts";
import { migrations } from "./schema.ts";
import { SqliteDatabase, type SqliteOptions } from "./sqlite-database.ts";
import { failureError, unansweredError } from "./sqlite-failures.ts";
import { SqliteThreads } from "./sqlite-threads.ts";
import { type Worker, WorkerLease } from "./worker-lease.ts";

const defaultOpenMs = 60_000;
/** Longer than users pause between two attempts: otherwise a large file would be checked again and again. */
const defaultKeepMs = 120_000;

/** A use of a database; the last one to release it closes it. */
export interface StoreConnection {
  readonly database: Database;
  /** Notifies of the records that this process puts into it. */
  readonly arrivals: RecordArrivals;
  /** What this process is to the database. */
  readonly worker: Worker;
  /** The log of the store, shared by all users in this process. */
  readonly log: LogTable;
  /** The check of a large file, which goes on while it is used; null if all of it was checked before, and for a server's database. */
  readonly check: DatabaseCheck | null;
  /** Resolves within a few seconds, also when the disk hangs; may be called twice. */
  release(): Promise<void>;
}

/** The check of a database that is used before it has ended. */
export interface DatabaseCheck {
  readonly bytes: number;
  /**
   * Resolves when the whole file was found undamaged; rejects with ERR_STORE otherwise, and then nothing can be stored any more. What a
   * damaged database must not be believed waits for it: what is to be deleted or moved away.
   */
  readonly ended: Promise<void>;
}

/** A database of either kind, as it is open in this process. */
interface OpenDatabase extends Database {
  readonly worker: Worker;
  readonly log: LogTable;
  readonly check: DatabaseCheck | null;
  /** Resolves when nothing of the database is open any more, which can be later than its `close`. */
  ended(): Promise<void>;
}

interface Shared {
  readonly database: Promise<OpenDatabase>;
  readonly arrivals: RecordArrivals;
  users: number;
}

type OptionsOfPostgres = Omit<SharedDatabaseOptions, "address" | "workerId">;

interface StoreDatabasesOptions extends Omit<StoreDatabaseOptions, "file"> {
  /** How long one user waits until the database is open, while its whole file is checked. Opening itself goes on. */
  readonly openWithinMs?: number;
  /** How long a database stays open that was opened when all users had given up. */
  readonly keepMs?: number;
  /** Called when a large file is used while it is checked. */
  readonly onCheck?: (file: string, check: DatabaseCheck) => void;
  readonly postgres?: OptionsOfPostgres;
}

/**
 * The databases of stores that this process has open. A file can be open only once, and a process is one worker on a
 * PostgreSQL database, so nodes with the same one share it.
 */
export class StoreDatabases {
  readonly #fileOptions: Omit<StoreDatabaseOptions, "file">;
  readonly #postgresOptions: OptionsOfPostgres;
  readonly #openWithinMs: number;
  readonly #keepMs: number;
  readonly #onCheck: (file: string, check: DatabaseCheck) => void;
  readonly #open = new Map<string, Shared>();
  /** Databases that are being closed, until nothing of them is open any more. */
  readonly #closing = new Map<string, Promise<void>>();
  /** Files in which damage was found: the next time they are checked before they are used. */
  readonly #damaged = new Set<string>();
  /** Which worker this process is on each PostgreSQL database, for as long as it runs. */
  readonly #workerIds = new Map<string, string>();

  constructor({
    openWithinMs = defaultOpenMs,
    keepMs = defaultKeepMs,
    onCheck = () => undefined,
    postgres = {},
    ...options
  }: StoreDatabasesOptions = {}) {
    this.#fileOptions = { threads: new SqliteThreads(), ...options };
    this.#postgresOptions = postgres;
    this.#openWithinMs = openWithinMs;
    this.#keepMs = keepMs;
    this.#onCheck = onCheck;
  }

  /** Opens the database; creates the file and its folder, or the tables, if they are missing. Rejects with ERR_STORE. */
  async open(location: DatabaseLocation): Promise<StoreConnection> {
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
      const { worker, log, check } = database;
      return { database, arrivals, worker, log, check, release };
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
      return this.#openFile(key);
    }
    // The nodes of the deploy before have left jobs and records in its name, and some records wait in the memory.
    const workerId = this.#workerIds.get(key) ?? randomUUID();
    this.#workerIds.set(key, workerId);
    const { kind: _kind, ...place } = location;
    return SharedDatabase.open({ ...this.#postgresOptions, ...place, workerId });
  }

  async #openFile(file: string): Promise<OpenDatabase> {
    const besideFromBytes = this.#damaged.has(file) ? Infinity : this.#fileOptions.besideFromBytes;
    const database = await StoreDatabase.open({
      ...this.#fileOptions,
      ...(besideFromBytes === undefined ? {} : { besideFromBytes }),
      file,
    });
    this.#damaged.delete(file);
    const { check } = database;
    if (check !== null) {
      check.ended.catch((error: unknown) => {
        if (isDamaged(error)) {
          this.#damaged.add(file);
        }
      });
      this.#onCheck(file, check);
    }
    return database;
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

export type StoreDatabaseOptions = Omit<SqliteOptions, "migrations" | "mustExist">;

const defaultAnswerMs = 30_000;
/** A lease that cannot be given back ends by itself. With what else a node waits for, it has to close within 15 s. */
const endWithinMs = 3_000;

/** The embedded database of a store. If its thread has ended, the next transaction opens it again. */
export class StoreDatabase implements Database {
  /** Created with the database. */
  readonly storeId: string;
  readonly log: LogTable;
  readonly #options: StoreDatabaseOptions;
  readonly #closing = new AbortController();
  #current: SqliteDatabase;
  #reopening: Promise<SqliteDatabase> | undefined;
  /** The damage that was found, and the file as it was then: until it is another one, it is not read again. */
  #refused: { readonly error: DimensionerError; readonly state: Promise<string> } | undefined;

  private constructor(options: StoreDatabaseOptions, current: SqliteDatabase, storeId: string) {
    this.#options = options;
    this.#current = current;
    this.storeId = storeId;
    this.log = new LogTable(this, storeId, storeId);
    current.checked.catch((error: unknown) => this.#refuse(error));
  }

  /** Opens the file and makes it where it is missing. Rejects with ERR_STORE; has no time limit. */
  static async open(options: StoreDatabaseOptions): Promise<StoreDatabase> {
    const { database, storeId } = await openIdentified(options, false);
    return new StoreDatabase(options, database, storeId);
  }

  get opened(): SqliteDatabase["opened"] {
    return this.#current.opened;
  }

  get check(): DatabaseCheck | null {
    const { opened, checked } = this.#current;
    return opened.uncheckedBytes === null ? null : { bytes: opened.uncheckedBytes, ended: checked };
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
    await settledWithin(this.log.close(), endWithinMs);
    await this.#current.close();
  }

  /** Resolves when no thread has the file open any more, which a hanging disk can delay beyond `close`. */
  async ended(): Promise<void> {
    await this.#reopening?.catch(() => undefined);
    await this.#current.ended;
  }

  /** All transactions wait for a hanging disk at the same time, each as long as for any response. */
  async #reopened(): Promise<SqliteDatabase> {
    const { file, answerWithinMs = defaultAnswerMs } = this.#options;
    const refused = this.#refused;
    if (refused !== undefined && (await stateOf(file)) === (await refused.state)) {
      throw refused.error;
    }
    this.#reopening ??= this.#reopen().finally(() => {
      this.#reopening = undefined;
    });
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
    let opened: Identified;
    try {
      // What was lost or damaged is checked before it is used again.
      opened = await openIdentified({ ...this.#options, besideFromBytes: Infinity }, true, signal);
    } catch (error) {
      this.#refuse(error);
      throw error;
    }
    const { database, storeId } = opened;
    this.#refused = undefined;
    this.#current = database;
    if (signal.aborted || storeId !== this.storeId) {
      await database.close();
    }
    if (storeId !== this.storeId) {
      throw failureError(this.#options.file, { reason: "replaced" });
    }
    return database;
  }

  #refuse(error: unknown): void {
    if (isDamaged(error)) {
      this.#refused = { error, state: stateOf(this.#options.file) };
    }
  }
}

function isDamaged(error: unknown): error is DimensionerError {
  return isDimensionerError(error) && error.sentence === "storeDamaged";
}

/** Changes with each change of a file. */
async function stateOf(file: string): Promise<string> {
  try {
    const { ino, size, mtimeNs } = await stat(file, { bigint: true });
    return `${ino} ${size} ${mtimeNs}`;
  } catch (error) {
    return String(error);
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

export interface SharedDatabaseOptions extends Omit<PostgresOptions, "access" | "migrations"> {
  /** How long the jobs of a process that has stopped without a word are left alone. */
  readonly leaseSeconds?: number;
  /** How long they are left alone after this process has closed the database. */
  readonly closedLeaseSeconds?: number;
  /** The ID that this process had on the database before; not given: it is a worker of its own. */
  readonly workerId?: string;
}

/** The database of a store on a PostgreSQL server, which this process works on together with others. */
export class SharedDatabase implements Database {
  /** The same for all that work on the store. */
  readonly storeId: string;
  readonly worker: WorkerLease;
  readonly log: LogTable;
  /** A server checks its files itself. */
  readonly check = null;
  readonly #database: PostgresDatabase;
  #closing: Promise<void> | undefined;

  private constructor(database: PostgresDatabase, storeId: string, worker: WorkerLease) {
    this.#database = database;
    this.storeId = storeId;
    this.worker = worker;
    this.log = new LogTable(database, storeId, worker.id);
  }

  /** Connects, makes the tables where they are missing, and begins a lease. Rejects with ERR_STORE. */
  static async open({
    leaseSeconds: seconds,
    closedLeaseSeconds: closedSeconds,
    workerId: id,
    ...options
  }: SharedDatabaseOptions): Promise<SharedDatabase> {
    const database = await PostgresDatabase.open({ ...options, migrations, access: "create" });
    try {
      const { storeId } = await identifyStore(database);
      const worker = await WorkerLease.begin(database, { id, seconds, closedSeconds });
      return new SharedDatabase(database, storeId, worker);
    } catch (error) {
      await database.close();
      throw error;
    }
  }

  transaction(statements: readonly Statement[]): Promise<readonly (readonly Row[])[]> {
    return this.#database.transaction(statements);
  }

  /** Disconnects. The lease goes on for some seconds; what is open then is taken over by others. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Resolves when it has disconnected. */
  async ended(): Promise<void> {
    await this.#closing;
  }

  async #close(): Promise<void> {
    await settledWithin(Promise.all([this.worker.end(), this.log.close()]), endWithinMs);
    await this.#database.close();
  }
}

/** What a database says about its store. */
export interface StoreIdentity {
  /** Created with the database. */
  readonly storeId: string;
  /** The folder of its packages, where it was last used; null if it has none yet. */
  readonly folder: string | null;
}

/** Reads which store a database belongs to; a new database gets an id. Rejects with ERR_STORE. */
export async function identifyStore(database: Pick<Database, "transaction">): Promise<StoreIdentity> {
  const [, [store] = []] = await database.transaction([
    {
      sql: `INSERT INTO store (store_id, folder, created_at)
        SELECT ?, NULL, ? WHERE NOT EXISTS (SELECT 1 FROM store)`,
      values: [randomUUID(), new Date().toISOString()],
    },
    { sql: "SELECT store_id, folder FROM store" },
  ]);
  const folder = store?.["folder"];
  return { storeId: String(store?.["store_id"]), folder: typeof folder === "string" ? folder : null };
}
