import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { Row, Statement } from "./database.ts";
import type {
  OpenFailure,
  OpenRequest,
  SqliteFailure,
  TransactionRequest,
  TransactionResult,
} from "./sqlite-messages.ts";

/** Prepared statements that are kept; the store has fewer than that. */
const mostPrepared = 200;
const corrupt = 11;
const notADatabase = 26;

/** One SQLite database, opened by this process alone. */
export class SqliteFile {
  readonly schemaVersion: number;
  readonly sqliteVersion: string;
  readonly #database: DatabaseSync;
  readonly #prepared = new Map<string, StatementSync>();

  private constructor(database: DatabaseSync, schemaVersion: number) {
    this.#database = database;
    this.schemaVersion = schemaVersion;
    this.sqliteVersion = String(database.prepare("SELECT sqlite_version() AS version").get()?.["version"]);
  }

  /** Opens the file, makes it where it is missing, checks it and brings its schema up to date. */
  static open({
    file,
    migrations,
  }: OpenRequest): { readonly file: SqliteFile } | { readonly failure: OpenFailure } {
    let database: DatabaseSync | undefined;
    try {
      database = new DatabaseSync(file, { timeout: 0 });
      // The lock is held until the file is closed: a second process is refused, however long this one sleeps.
      database.exec("PRAGMA locking_mode = EXCLUSIVE");
      database.exec("PRAGMA journal_mode = WAL");
      database.exec("PRAGMA synchronous = FULL");
      database.exec("PRAGMA foreign_keys = ON");
      // Takes the lock at once, not with the first write.
      database.exec("BEGIN IMMEDIATE; COMMIT");
      const found = check(database);
      if (found !== undefined) {
        database.close();
        return { failure: { reason: "damaged", message: found } };
      }
      const version = versionOf(database);
      if (version > migrations.length) {
        database.close();
        return { failure: { reason: "newer-schema", found: version, known: migrations.length } };
      }
      migrate(database, version, migrations);
      return { file: new SqliteFile(database, migrations.length) };
    } catch (error) {
      closeQuietly(database);
      const failure = describe(error);
      return failure.resultCode === corrupt || failure.resultCode === notADatabase
        ? { failure: { reason: "damaged", message: failure.message } }
        : { failure: { reason: "failed", failure } };
    }
  }

  /** Runs each request in a savepoint of its own, all of them in one commit; what fails takes no other one with it. */
  commit(requests: readonly TransactionRequest[]): readonly TransactionResult[] {
    try {
      this.#database.exec("BEGIN IMMEDIATE");
      const results = requests.map((request) => this.#runOne(request));
      this.#database.exec("COMMIT");
      return results;
    } catch (error) {
      this.#rollBack();
      const failure = describe(error);
      return requests.map(({ id }) => ({ id, failure }));
    }
  }

  close(): void {
    closeQuietly(this.#database);
  }

  #runOne({ id, statements }: TransactionRequest): TransactionResult {
    this.#database.exec("SAVEPOINT request");
    try {
      const rows = statements.map((statement) => this.#run(statement));
      this.#database.exec("RELEASE request");
      return { id, rows };
    } catch (error) {
      // A full disk or a failed read ends the whole transaction: then nothing of the batch is there.
      if (!this.#database.isTransaction) {
        throw error;
      }
      this.#database.exec("ROLLBACK TO request; RELEASE request");
      return { id, failure: describe(error) };
    }
  }

  #run({ sql, values = [] }: Statement): readonly Row[] {
    return this.#prepare(sql).all(...values) as Row[];
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

  #rollBack(): void {
    try {
      if (this.#database.isTransaction) {
        this.#database.exec("ROLLBACK");
      }
    } catch {
      // SQLite has rolled back by itself, or cannot read its file any more: the next transaction says so.
    }
  }
}

/** What is wrong with the file, in SQLite's words; undefined where nothing is. */
function check(database: DatabaseSync): string | undefined {
  const [first] = database.prepare("PRAGMA quick_check(1)").all();
  const said = first === undefined ? "ok" : String(Object.values(first)[0]);
  return said === "ok" ? undefined : said;
}

function versionOf(database: DatabaseSync): number {
  return Number(database.prepare("PRAGMA user_version").get()?.["user_version"]);
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

function closeQuietly(database: DatabaseSync | undefined): void {
  try {
    database?.close();
  } catch {
    // It never opened, or its file is gone: there is nothing left to let go of.
  }
}

function describe(error: unknown): SqliteFailure {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && "errcode" in error ? error.errcode : 0;
  // The upper bits hold the extension: 266 is SQLITE_IOERR_READ, one kind of SQLITE_IOERR (10).
  return { resultCode: typeof code === "number" ? code & 0xff : 0, message };
}
