import { statSync } from "node:fs";
import { resolve } from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import type { Row, Statement } from "./database.ts";
import { describeOpenFailure, resultCodeOf, resultCodes } from "./sqlite-errors.ts";
import { allRows } from "./sqlite-file.ts";
import {
  type Failure,
  type ToolRequest,
  type TransactionRequest,
  type TransactionResult,
  onlyReads,
} from "./sqlite-messages.ts";
import { SqliteLock } from "./sqlite-open.ts";

interface Open {
  readonly database: DatabaseSync;
  readonly prepared: Map<string, StatementSync>;
  /** How a transaction begins; undefined if everything is one transaction, which was begun. */
  readonly begin: "BEGIN" | "BEGIN IMMEDIATE" | undefined;
  /** The state of the file when it was opened as immutable; undefined if it was not. */
  readonly unchanged: string | undefined;
}

/** How long a statement waits for another program that is writing. */
const busyTimeoutMs = 2_000;
/** A file that changes every time is not opened as immutable any more. */
const mostReopened = 3;

/** One SQLite database that this process does not own: the part of a ToolDatabase that runs in its thread. */
export class ToolFile {
  readonly opened = null;
  readonly #request: ToolRequest;
  #open: Open | undefined;
  #lock: SqliteLock | undefined;
  #reopened = 0;

  private constructor(request: ToolRequest) {
    this.#request = request;
  }

  static open(request: ToolRequest): ToolFile | Failure {
    const file = new ToolFile(request);
    try {
      if (isNoFile(request.file)) {
        return { reason: "foreign" };
      }
      file.#run([]);
      return file;
    } catch (error) {
      file.close();
      return file.#failureOf(error);
    }
  }

  /** Each request is a transaction of its own. */
  commit(requests: readonly TransactionRequest[]): readonly TransactionResult[] {
    return requests.map(({ id, statements }) => {
      try {
        return { id, rows: this.#run(statements) };
      } catch (error) {
        return { id, failure: this.#failureOf(error) };
      }
    });
  }

  close(): void {
    this.#open?.database.close();
    this.#open = undefined;
    this.#lock?.release();
    this.#lock = undefined;
  }

  #run(statements: readonly Statement[]): readonly (readonly Row[])[] {
    if (this.#request.as === "lock") {
      this.#lock ??= SqliteLock.take(this.#request.file);
      return [];
    }
    for (;;) {
      const open = (this.#open ??= this.#openFile());
      try {
        const rows = transact(open, statements);
        if (this.#isUnchanged(open)) {
          return rows;
        }
      } catch (error) {
        if (this.#isUnchanged(open)) {
          throw error;
        }
      }
      // Its owner has started to write: the rows may be half old and half new.
      this.#reopened += 1;
      this.close();
    }
  }

  #openFile(): Open {
    const { as, file } = this.#request;
    const opened = (database: DatabaseSync, unchanged?: string): Open => ({
      database,
      unchanged,
      prepared: new Map(),
      begin: as === "write" ? "BEGIN IMMEDIATE" : as === "build" ? undefined : "BEGIN",
    });
    switch (as) {
      case "temporary":
        return opened(new DatabaseSync(""));
      case "build":
        return opened(openToBuild(file));
      case "check":
        return opened(new DatabaseSync(file, { readOnly: true, timeout: busyTimeoutMs }));
      case "write":
        statSync(file);
        return opened(new DatabaseSync(file, { timeout: busyTimeoutMs }));
      default:
        return this.#openToRead(opened);
    }
  }

  /**
   * SQLite creates two files beside a file with a write-ahead log even to read it, and leaves them there. If the log is
   * empty or missing, everything is in the file itself, and it can be read as immutable as long as nobody writes.
   */
  #openToRead(opened: (database: DatabaseSync, unchanged?: string) => Open): Open {
    const { file } = this.#request;
    const state = stateOf(file);
    if (state === undefined || this.#reopened >= mostReopened) {
      return opened(new DatabaseSync(file, { readOnly: true, timeout: busyTimeoutMs }));
    }
    const url = pathToFileURL(resolve(file));
    url.searchParams.set("immutable", "1");
    return opened(new DatabaseSync(url, { readOnly: true }), state);
  }

  #failureOf(error: unknown): Failure {
    const { as, file } = this.#request;
    return as === "lock" && resultCodeOf(error) === resultCodes.busy
      ? { reason: "in-use" }
      : describeOpenFailure(error, file);
  }

  #isUnchanged({ unchanged }: Open): boolean {
    return unchanged === undefined || unchanged === stateOf(this.#request.file);
  }
}

/** SQLite's own files beside a database, and the lock. */
const suffixes = ["", "-journal", "-lock", "-shm", "-wal"];

/** Whether something lies in the place of a database that is no file, such as a pipe: opening it might never end, and no time limits it. */
function isNoFile(file: string): boolean {
  return suffixes.some((suffix) => {
    const found = statSync(`${file}${suffix}`, { throwIfNoEntry: false });
    return found !== undefined && !found.isFile() && !found.isDirectory();
  });
}

/**
 * Each page is written once, when it is full: there is no log, and one transaction. A file whose building was interrupted is
 * of no use.
 */
function openToBuild(file: string): DatabaseSync {
  statSync(file);
  const database = new DatabaseSync(file);
  try {
    database.exec(
      "PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -64000; PRAGMA temp_store = MEMORY; BEGIN",
    );
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Changes with each change of the file; undefined while its log is not empty. */
function stateOf(file: string): string | undefined {
  const { size, mtimeNs, ino } = statSync(file, { bigint: true });
  const log = statSync(`${file}-wal`, { throwIfNoEntry: false });
  return (log?.size ?? 0) === 0 ? `${ino} ${size} ${mtimeNs}` : undefined;
}

function transact(
  { database, prepared, begin }: Open,
  statements: readonly Statement[],
): readonly (readonly Row[])[] {
  const run = (): readonly (readonly Row[])[] =>
    statements.map(({ sql, values = [] }) => {
      const statement = prepared.get(sql) ?? database.prepare(sql);
      prepared.set(sql, statement);
      return allRows(statement, values);
    });
  if (begin === undefined) {
    return run();
  }
  // What only reads must not keep Node-RED from writing, however long it takes.
  database.exec(statements.length > 0 && statements.every(onlyReads) ? "BEGIN" : begin);
  try {
    const rows = run();
    database.exec("COMMIT");
    return rows;
  } catch (error) {
    if (database.isTransaction) {
      database.exec("ROLLBACK");
    }
    throw error;
  }
}
