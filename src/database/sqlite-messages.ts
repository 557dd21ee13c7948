import type { Row, Statement } from "./database.ts";

/** Opens a database in the thread. */
export interface OpenRequest {
  readonly file: string;
  /** Statements that lead from each version of the schema to the next. */
  readonly migrations: readonly (readonly string[])[];
  /** How long a statement waits for another process that has locked the file. */
  readonly busyTimeoutMs: number;
  /** Whether a missing file is an error instead of a new database. */
  readonly mustExist: boolean;
}

/** One transaction for the thread. */
export interface TransactionRequest {
  readonly id: number;
  readonly statements: readonly Statement[];
}

/**
 * A request to the thread: to open a database, to run transactions in it, or to close it, after which it can open
 * another one.
 */
export type ThreadRequest = { readonly open: OpenRequest } | TransactionRequest | "close";

/** Why a database could not be opened, or a transaction failed. */
export type Failure =
  /** Another process owns the database. */
  | { readonly reason: "in-use" }
  | { readonly reason: "newer-schema" }
  /** The database belongs to another application. */
  | { readonly reason: "foreign" }
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
}

/**
 * A response of the thread: whether the database was opened, the results of several transactions, or that the file is
 * closed.
 */
export type ThreadMessage =
  | { readonly opened: Opened }
  | { readonly failure: Failure }
  | { readonly results: readonly TransactionResult[] }
  | "closed";

export type TransactionResult =
  | { readonly id: number; readonly rows: readonly (readonly Row[])[] }
  | { readonly id: number; readonly failure: Failure };
