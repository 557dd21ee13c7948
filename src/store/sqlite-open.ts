import { existsSync, mkdirSync, realpathSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describeOpenFailure, resultCodeOf, resultCodes } from "./sqlite-errors.ts";
import { SqliteLock } from "./sqlite-lock.ts";
import { readLog } from "./sqlite-log.ts";
import type { Failure, OpenRequest } from "./sqlite-messages.ts";

/** A database that this process owns, checked and with the newest schema. */
export interface OpenDatabase {
  readonly database: DatabaseSync;
  readonly lock: SqliteLock;
  /** Without symbolic links. */
  readonly path: string;
  readonly isShared: boolean;
}

/** What SQLite says where it cannot share memory between processes, among other things. */
const sharedMemoryFailures: ReadonlySet<number> = new Set([
  resultCodes.ioError,
  resultCodes.cannotOpen,
  resultCodes.protocol,
]);

/** What a look at a file that nothing changes has found. */
interface Looked {
  readonly damage: string | undefined;
  readonly schemaVersion: number;
}

/** Opens the file, makes it where it is missing, checks it and brings its schema up to date. What is wrong stays as it is. */
export function openOwned(request: OpenRequest): OpenDatabase | Failure {
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
    // The lock waits for nobody; the database's own file does, and says then that it is busy.
    return lock === undefined && resultCodeOf(error) === resultCodes.busy
      ? { reason: "in-use" }
      : describeOpenFailure(error, request.file);
  }
}

/** Makes the database's own folder, but not what it lies in: that may be a volume which is not mounted. */
function makeFolder({ file, mustExist }: OpenRequest): void {
  const folder = dirname(file);
  if (!mustExist && !existsSync(folder)) {
    mkdirSync(folder, { mode: 0o700 });
  }
}

function openLocked(
  path: string,
  request: OpenRequest,
): Pick<OpenDatabase, "database" | "isShared"> | Failure {
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
  const looked = bytes > 0 ? lookWithoutChange(path, request) : undefined;
  const failure = looked && refuse(looked, migrations.length);
  if (failure !== undefined) {
    return failure;
  }
  const opened = openForWriting(path, request);
  try {
    const found = looked ?? look(opened.database);
    const refused = refuse(found, migrations.length);
    if (refused !== undefined) {
      opened.database.close();
      return refused;
    }
    migrate(opened.database, found.schemaVersion, migrations);
    return opened;
  } catch (error) {
    opened.database.close();
    throw error;
  }
}

/**
 * Checks the file on a connection that only reads. One that writes would, when it is closed, move the log into a file that is
 * damaged. Undefined where such a connection cannot look: where no memory can be shared, or a first start was cut short.
 */
function lookWithoutChange(path: string, { busyTimeoutMs }: OpenRequest): Looked | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { readOnly: true, timeout: busyTimeoutMs });
    return look(database);
  } catch (error) {
    const resultCode = resultCodeOf(error);
    if (resultCode === resultCodes.corrupt || resultCode === resultCodes.notADatabase) {
      throw error;
    }
    return undefined;
  } finally {
    database?.close();
  }
}

function look(database: DatabaseSync): Looked {
  const said = String(firstValue(database, "PRAGMA quick_check(1)"));
  return {
    damage: said === "ok" ? undefined : said,
    schemaVersion: Number(firstValue(database, "PRAGMA user_version")),
  };
}

function refuse({ damage, schemaVersion }: Looked, known: number): Failure | undefined {
  if (damage !== undefined) {
    return { reason: "damaged", message: damage };
  }
  return schemaVersion > known ? { reason: "newer-schema" } : undefined;
}

function openForWriting(path: string, request: OpenRequest): Pick<OpenDatabase, "database" | "isShared"> {
  const shared = connect(path, request, true);
  if (shared !== undefined) {
    return { database: shared, isShared: true };
  }
  // Some network shares have no memory that processes can share. Alone SQLite needs none.
  const alone = connect(path, request, false);
  if (alone === undefined) {
    throw new Error("this file system cannot hold a write-ahead log");
  }
  return { database: alone, isShared: false };
}

/** Undefined where this way is not possible on this file system. */
function connect(path: string, { busyTimeoutMs }: OpenRequest, isShared: boolean): DatabaseSync | undefined {
  const database = new DatabaseSync(path, { timeout: busyTimeoutMs });
  try {
    if (!isShared) {
      database.exec("PRAGMA locking_mode = EXCLUSIVE");
    }
    if (firstValue(database, "PRAGMA journal_mode = WAL") !== "wal") {
      database.close();
      return undefined;
    }
    database.exec("PRAGMA synchronous = FULL");
    database.exec("PRAGMA foreign_keys = ON");
    // Says now, not with the first change, whether the file can be written: SQLite opens one that cannot without a word.
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

function migrate(database: DatabaseSync, from: number, migrations: readonly (readonly string[])[]): void {
  for (const [version, statements] of migrations.entries()) {
    if (version < from) {
      continue;
    }
    database.exec("BEGIN IMMEDIATE");
    for (const statement of statements) {
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
