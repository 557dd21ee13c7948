import { existsSync, mkdirSync, realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Migrations } from "./database.ts";
import { describeOpenFailure, resultCodeOf, resultCodes } from "./sqlite-errors.ts";
import { readLog } from "./sqlite-log.ts";
import { checkStatement, type Failure, type OwnRequest } from "./sqlite-messages.ts";

/** A database that this process owns, with the newest schema. */
export interface OpenDatabase {
  readonly database: DatabaseSync;
  /** Null for a database that was checked. */
  readonly unchecked: UncheckedFile | null;
  readonly lock: SqliteLock;
  /** Without symbolic links. */
  readonly path: string;
  readonly isShared: boolean;
}

/** A file that is used before it was checked: nothing is written to it until then, only to its log. */
export interface UncheckedFile {
  readonly bytes: number;
  /** The last connection that is closed would move the log into the file, unless it can only read. */
  readonly reader: DatabaseSync;
}

/** After how many pages SQLite moves its log into the file, by default. */
const logPages = 1_000;
/** A log that was longer, while a long reading kept it from being emptied, is cut to this. */
const logBytes = 64 * 1024 * 1024;

/** The errors of SQLite if processes cannot share memory, among other reasons. */
const sharedMemoryFailures: ReadonlySet<number> = new Set([
  resultCodes.ioError,
  resultCodes.cannotOpen,
  resultCodes.protocol,
]);

/** The result of an inspection that changes nothing. */
interface Inspection {
  readonly damage: string | undefined;
  readonly schemaVersion: number;
  /** Null for a file of which all was read. */
  readonly unchecked: UncheckedFile | null;
}

/**
 * Opens the file, creates it if it is missing, checks it and migrates its schema. A file with a problem stays
 * unchanged. A large one is left to be checked while it is used.
 */
export function openOwned(request: OwnRequest): OpenDatabase | Failure {
  let lock: SqliteLock | undefined;
  try {
    makeFolder(request);
    const path = existsSync(request.file) ? realpathSync(request.file) : request.file;
    lock = SqliteLock.take(path);
    const opened = openLocked(path, request);
    if ("database" in opened) {
      return { ...opened, lock, path };
    }
    lock.release();
    return opened;
  } catch (error) {
    lock?.release();
    // The lock does not wait. The database's own file does, and then reports that it is busy.
    return lock === undefined && resultCodeOf(error) === resultCodes.busy
      ? { reason: "in-use" }
      : describeOpenFailure(error, request.file);
  }
}

/** Creates the database's own folder, but not its parent: that may be a volume that is not mounted. */
function makeFolder({ file, mustExist }: OwnRequest): void {
  if (mustExist) {
    return;
  }
  const folder = dirname(file);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Not checked before, because at a first start the threads of several stores create it at the same time.
    if (!existsSync(folder)) {
      throw error;
    }
  }
}

function openLocked(
  path: string,
  request: OwnRequest,
): Pick<OpenDatabase, "database" | "isShared" | "unchecked"> | Failure {
  const bytes = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (bytes === 0 && request.mustExist) {
    return { reason: "replaced" };
  }
  const log = readLog(`${path}-wal`);
  if (log.isDamaged) {
    return { reason: "damaged", message: "checksum mismatch in the write-ahead log" };
  }
  if (bytes === 0 && log.commits > 0) {
    return { reason: "damaged", message: "the file is missing or empty, and its write-ahead log is not" };
  }
  const { migrations } = request;
  const looked = bytes > 0 ? inspectReadOnly(path, bytes, request) : undefined;
  const unchecked = looked?.unchecked ?? null;
  let database: DatabaseSync | undefined;
  try {
    const failure = looked && refuse(looked, migrations.length);
    if (failure !== undefined) {
      return failure;
    }
    const opened = openForWriting(path, request);
    database = opened.database;
    const found = looked ?? inspect(database);
    const refused = refuse(found, migrations.length);
    if (refused !== undefined) {
      database.close();
      return refused;
    }
    if (unchecked !== null) {
      database.exec("PRAGMA wal_autocheckpoint = 0");
    }
    migrate(database, found.schemaVersion, migrations);
    return { ...opened, unchecked };
  } catch (error) {
    database?.close();
    unchecked?.reader.close();
    throw error;
  }
}

/** Lets the log of a database be moved into its file, which was checked. */
export function useChecked({ database, unchecked }: Pick<OpenDatabase, "database" | "unchecked">): void {
  unchecked?.reader.close();
  database.exec(`PRAGMA wal_autocheckpoint = ${logPages}`);
}

/**
 * Checks the file on a read-only connection. A connection that writes would, when it is closed, move the log into a
 * damaged file. Undefined if a read-only connection is not possible: where no memory can be shared, or a first start
 * was interrupted.
 */
function inspectReadOnly(
  path: string,
  bytes: number,
  { busyTimeoutMs, besideFromBytes, migrations }: OwnRequest,
): Inspection | undefined {
  let database: DatabaseSync | undefined;
  let isKept = false;
  try {
    database = new DatabaseSync(path, { readOnly: true, timeout: busyTimeoutMs });
    // A change of the schema writes to all of the file.
    isKept = bytes >= besideFromBytes && versionOf(database) === migrations.length;
    return isKept
      ? { damage: undefined, schemaVersion: migrations.length, unchecked: { bytes, reader: database } }
      : inspect(database);
  } catch (error) {
    const resultCode = resultCodeOf(error);
    if (resultCode === resultCodes.corrupt || resultCode === resultCodes.notADatabase) {
      throw error;
    }
    return undefined;
  } finally {
    if (!isKept) {
      database?.close();
    }
  }
}

function inspect(database: DatabaseSync): Inspection {
  const said = String(firstValue(database, checkStatement));
  return {
    damage: said === "ok" ? undefined : said,
    schemaVersion: versionOf(database),
    unchecked: null,
  };
}

function versionOf(database: DatabaseSync): number {
  return Number(firstValue(database, "PRAGMA user_version"));
}

function refuse(
  { damage, schemaVersion }: Omit<Inspection, "unchecked">,
  known: number,
): Failure | undefined {
  if (damage !== undefined) {
    return { reason: "damaged", message: damage };
  }
  return schemaVersion > known ? { reason: "newer-schema" } : undefined;
}

function openForWriting(path: string, request: OwnRequest): Pick<OpenDatabase, "database" | "isShared"> {
  const shared = connect(path, request, true);
  if (shared !== undefined) {
    return { database: shared, isShared: true };
  }
  // Some network shares have no memory that processes can share. A single process needs none.
  const alone = connect(path, request, false);
  if (alone === undefined) {
    throw new Error("this file system cannot hold a write-ahead log");
  }
  return { database: alone, isShared: false };
}

/** Undefined if this is not possible on this file system. */
function connect(path: string, { busyTimeoutMs }: OwnRequest, isShared: boolean): DatabaseSync | undefined {
  const database = new DatabaseSync(path, { timeout: busyTimeoutMs });
  try {
    if (!isShared) {
      database.exec("PRAGMA locking_mode = EXCLUSIVE");
    }
    if (firstValue(database, "PRAGMA page_count") === 0) {
      // A new file gives back what it does not need any more: `SqliteFile.shrink`.
      database.exec("PRAGMA auto_vacuum = INCREMENTAL");
    }
    if (firstValue(database, "PRAGMA journal_mode = WAL") !== "wal") {
      database.close();
      return undefined;
    }
    database.exec("PRAGMA synchronous = FULL");
    database.exec(`PRAGMA journal_size_limit = ${logBytes}`);
    database.exec("PRAGMA foreign_keys = ON");
    // Finds out now, and not at the first change, whether the file can be written: SQLite opens a read-only file
    // without an error.
    database.exec("BEGIN IMMEDIATE; PRAGMA application_id = 0; ROLLBACK");
    return database;
  } catch (error) {
    database.close();
    if (isShared && sharedMemoryFailures.has(resultCodeOf(error))) {
      return undefined;
    }
    throw error;
  }
}

function migrate(database: DatabaseSync, from: number, migrations: Migrations): void {
  for (const [version, statements] of migrations.entries()) {
    if (version < from) {
      continue;
    }
    database.exec("BEGIN IMMEDIATE");
    for (const statement of statements.flatMap((one) => (typeof one === "string" ? one : one.sqlite))) {
      database.exec(statement);
    }
    database.exec(`PRAGMA user_version = ${version + 1}`);
    database.exec("COMMIT");
  }
}

function firstValue(database: DatabaseSync, sql: string): unknown {
  const row = database.prepare(sql).get() ?? {};
  return Object.values(row)[0];
}

/**
 * The lock that makes a process the only owner of a database: SQLite's own lock on an empty second file beside it. It
 * is held as long as the database is open, also while the process is suspended, and ends with the process. The
 * database's own file is not locked, so that other processes can read it.
 */
export class SqliteLock {
  readonly #database: DatabaseSync;

  private constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Throws SQLite's error: SQLITE_BUSY if another process has the lock. */
  static take(file: string): SqliteLock {
    const database = new DatabaseSync(`${file}-lock`, { timeout: 0 });
    try {
      database.exec("PRAGMA journal_mode = MEMORY");
      // The transaction is never committed: closing the file, or the end of the process, ends it.
      database.exec("BEGIN EXCLUSIVE");
    } catch (error) {
      database.close();
      throw error;
    }
    return new SqliteLock(database);
  }

  release(): void {
    this.#database.close();
  }
}
