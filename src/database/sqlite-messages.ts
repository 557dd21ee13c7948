import type { Migrations, Row, Statement } from "./database.ts";

/** How a process opens a database that it owns. */
export interface OwnRequest {
  readonly as: "own";
  readonly file: string;
  /** Statements that lead from each version of the schema to the next. */
  readonly migrations: Migrations;
  /** How long a statement waits for another process that has locked the file. */
  readonly busyTimeoutMs: number;
  /** Whether a missing file is an error instead of a new database. */
  readonly mustExist: boolean;
  /**
   * From which size on a file with the newest schema is not checked before it is used: its log stays out of it until `checked`.
   * Infinity: each file is checked first.
   */
  readonly besideFromBytes: number;
}

/** How a program opens a database that it does not own. */
export interface ToolRequest {
  /**
   * `read`: changes nothing, neither in the file nor beside it, as long as its log is empty. `write`: writes while its
   * owner may be writing too. `build`: fills one that nobody uses yet, in a single transaction that the caller ends. `lock`:
   * only prevents all others from opening it. `temporary`: a private one, on the disk when it is large. `check`: reads all of it while
   * its owner writes.
   */
  readonly as: "build" | "check" | "lock" | "read" | "temporary" | "write";
  /** The database's file; for a temporary one its name in errors. */
  readonly file: string;
}

/** How a database is checked: its pages, and the rows in them. The row of the answer is "ok", or says what is wrong. */
export const checkStatement = "PRAGMA quick_check(1)";

/** One transaction. */
export interface TransactionRequest {
  readonly id: number;
  readonly statements: readonly Statement[];
}

/**
 * What the thread is to do with one of its databases: to open it, to run a transaction, to use it as one that was checked, or to close it.
 * Each has an answer with its `id`.
 */
export type ThreadRequest = { readonly id: number; readonly database: number } & ThreadTask;
export type ThreadTask =
  | { readonly open: OwnRequest | ToolRequest }
  | { readonly statements: readonly Statement[] }
  | { readonly checked: true }
  | { readonly close: true };

/** Why a database could not be opened, or a transaction failed. */
export type Failure =
  /** Another process owns the database. */
  | { readonly reason: "in-use" }
  | { readonly reason: "newer-schema" }
  /** The database belongs to another application. */
  | { readonly reason: "foreign" }
  /** The database was closed before, or could not be opened. */
  | { readonly reason: "closed" }
  | { readonly reason: "damaged"; readonly message: string }
  /** The file or its log was replaced: what is written to it would be lost. */
  | { readonly reason: "replaced" }
  /** The error of SQLite and its primary result code, 0 if the failure is not SQLite's. */
  | { readonly reason: "failed"; readonly resultCode: number; readonly message: string };

export interface Opened {
  readonly schemaVersion: number;
  readonly sqliteVersion: string;
  /** Whether other processes can read the database while it is open. */
  readonly isShared: boolean;
  /** The size of a file that has still to be checked; null for one that was. */
  readonly uncheckedBytes: number | null;
}

export type TransactionResult =
  | { readonly id: number; readonly rows: readonly (readonly Row[])[] }
  | { readonly id: number; readonly failure: Failure };

/** The answer to a request. The thread sends several at once. */
export type ThreadAnswer = TransactionResult | { readonly id: number; readonly opened: Opened | null };

/** Whether a statement changes nothing; of some that change nothing, it is not known. */
export function onlyReads({ sql }: Statement): boolean {
  return /^\s*SELECT\b/.test(sql);
}
