/** What a column can hold and a statement can be given. Times are ISO 8601 text in UTC, truth values are 0 and 1. */
export type SqlValue = string | number | null | Uint8Array;

export type Row = Readonly<Record<string, SqlValue>>;

/** One SQL statement with `?` for each of its values. */
export interface Statement {
  readonly sql: string;
  readonly values?: readonly SqlValue[];
}

/**
 * Where a store keeps its jobs, records and index of packages. The statements are plain SQL that SQLite and PostgreSQL
 * both understand, so that either can stand behind this interface.
 */
export interface Database {
  /**
   * Runs the statements in one transaction, all of them or none, and resolves when that is durable: with the rows that
   * each statement returned. Rejects with ERR_STORE.
   */
  transaction(statements: readonly Statement[]): Promise<readonly (readonly Row[])[]>;
  /** Ends open work and lets go of the database. Resolves within a few seconds, also when the disk hangs. */
  close(): Promise<void>;
}
