import { statSync } from "node:fs";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Row, SqlValue } from "./database.ts";
import { describeFailure } from "./sqlite-errors.ts";
import type {
  Failure,
  Opened,
  OwnRequest,
  TransactionRequest,
  TransactionResult,
} from "./sqlite-messages.ts";
import { openOwned, type OpenDatabase, useChecked } from "./sqlite-open.ts";

/** How many prepared statements are kept, which is more than the store has. */
const mostPrepared = 200;

/** A tenth of the file, and at least so many pages, may be free: it will need them again. */
const [freeShare, leastFreePages] = [0.1, 1_024];
/** Few enough for nobody to notice that they are moved. */
const pagesAtOnce = 64;

/** One SQLite database that this process owns. Others can read it. */
export class SqliteFile {
  readonly opened: Opened;
  /**
   * Whether the file or its log was removed or replaced after a commit. SQLite goes on writing to files without a name,
   * and everything would be lost at the end of the process.
   */
  isLost = false;
  #own: OpenDatabase;
  readonly #database: DatabaseSync;
  readonly #identity: string;
  readonly #prepared = new Map<string, StatementSync>();
  /** Whether the file is being made smaller, until half as much of it is free. */
  #isShrinking = false;

  private constructor(own: OpenDatabase, schemaVersion: number) {
    this.#own = own;
    this.#database = own.database;
    this.#identity = this.#readIdentity();
    const version = own.database.prepare("SELECT sqlite_version() AS version").get()?.["version"];
    const uncheckedBytes = own.unchecked?.bytes ?? null;
    this.opened = { schemaVersion, sqliteVersion: String(version), isShared: own.isShared, uncheckedBytes };
  }

  static open(request: OwnRequest): SqliteFile | Failure {
    const opened = openOwned(request);
    return "reason" in opened ? opened : new SqliteFile(opened, request.migrations.length);
  }

  /**
   * Runs all requests in one commit, each of several in a savepoint of its own; a failed one does not affect the
   * others.
   */
  commit(requests: readonly TransactionRequest[]): readonly TransactionResult[] {
    const results = this.#commitTogether(requests);
    if (!("failure" in results)) {
      this.isLost = this.#readIdentity() !== this.#identity;
      return this.isLost ? fail(requests, { reason: "replaced" }) : results;
    }
    const { failure, hasBegun } = results;
    // On a full disk, one request may fail while others still fit, or only read.
    return hasBegun && requests.length > 1
      ? requests.flatMap((request) => this.commit([request]))
      : fail(requests, failure);
  }

  /** To be called when the file was checked. */
  checked(): void {
    useChecked(this.#own);
    this.#own = { ...this.#own, unchecked: null };
  }

  /**
   * Gives some pages back to the disk, if many are free; returns whether there are more. To be called while nobody needs the database. A
   * file that somebody has made again without SQLite's incremental vacuum stays as large as it is.
   */
  shrink(): boolean {
    if (this.#own.unchecked !== null || this.isLost) {
      return false;
    }
    const free = this.#pragma("freelist_count");
    const most = Math.max(leastFreePages, this.#pragma("page_count") * freeShare);
    if (free <= (this.#isShrinking ? most / 2 : most) || this.#pragma("auto_vacuum") === 0) {
      if (this.#isShrinking) {
        // The file ends where its last page is once the log was moved into it.
        this.#database.exec("PRAGMA wal_checkpoint(PASSIVE)");
      }
      this.#isShrinking = false;
      return false;
    }
    this.#isShrinking = true;
    this.#database.exec(`PRAGMA incremental_vacuum(${pagesAtOnce})`);
    return true;
  }

  close(): void {
    try {
      this.#database.close();
      this.#own.unchecked?.reader.close();
    } finally {
      this.#own.lock.release();
    }
  }

  #commitTogether(
    requests: readonly TransactionRequest[],
  ): readonly TransactionResult[] | { readonly failure: Failure; readonly hasBegun: boolean } {
    let hasBegun = false;
    try {
      this.#database.exec("BEGIN IMMEDIATE");
      hasBegun = true;
      // A single request fails as the whole transaction does, and needs no savepoint.
      const [only, ...others] = requests;
      const results =
        only !== undefined && others.length === 0
          ? [this.#run(only)]
          : requests.map((request) => this.#runInSavepoint(request));
      this.#database.exec("COMMIT");
      return results;
    } catch (error) {
      this.#rollBack();
      return { failure: describeFailure(error), hasBegun };
    }
  }

  #runInSavepoint(request: TransactionRequest): TransactionResult {
    this.#database.exec("SAVEPOINT request");
    try {
      const result = this.#run(request);
      this.#database.exec("RELEASE request");
      return result;
    } catch (error) {
      // A full disk or a failed read ends the whole transaction, so that nothing of the batch is stored.
      if (!this.#database.isTransaction) {
        throw error;
      }
      this.#database.exec("ROLLBACK TO request; RELEASE request");
      return { id: request.id, failure: describeFailure(error) };
    }
  }

  #run({ id, statements }: TransactionRequest): TransactionResult {
    return { id, rows: statements.map(({ sql, values = [] }) => allRows(this.#prepare(sql), values)) };
  }

  #prepare(sql: string): StatementSync {
    const before = this.#prepared.get(sql);
    if (before !== undefined) {
      return before;
    }
    if (this.#prepared.size >= mostPrepared) {
      this.#prepared.clear();
    }
    const statement = this.#database.prepare(sql);
    this.#prepared.set(sql, statement);
    return statement;
  }

  #pragma(name: string): number {
    return Number(Object.values(this.#database.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
  }

  #rollBack(): void {
    try {
      if (this.#database.isTransaction) {
        this.#database.exec("ROLLBACK");
      }
    } catch {
      // SQLite has rolled back by itself, or cannot read its file any more, which the next transaction will report.
    }
  }

  #readIdentity(): string {
    const { path } = this.#own;
    return [path, `${path}-wal`]
      .map((name) => {
        try {
          const { dev, ino } = statSync(name, { bigint: true });
          return `${dev}:${ino}`;
        } catch (error) {
          return String(error);
        }
      })
      .join(" ");
  }
}

function fail(requests: readonly TransactionRequest[], failure: Failure): readonly TransactionResult[] {
  return requests.map(({ id }) => ({ id, failure }));
}

/**
 * Returns the rows of a statement. A flipped bit on the disk can make an integer larger than JavaScript's; node:sqlite
 * would throw for it, so that one such row would prevent all others from being read. Such an integer is returned as
 * text: no column of a store holds any.
 */
export function allRows(statement: StatementSync, values: readonly SqlValue[]): readonly Row[] {
  statement.setReadBigInts(true);
  const rows = statement.all(...values);
  for (const row of rows) {
    for (const [name, value] of Object.entries(row)) {
      if (typeof value === "bigint") {
        const number = Number(value);
        row[name] = Number.isSafeInteger(number) ? number : String(value);
      }
    }
  }
  return rows as Row[];
}
