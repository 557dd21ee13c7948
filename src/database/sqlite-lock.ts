import { DatabaseSync } from "node:sqlite";

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
