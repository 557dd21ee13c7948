import type { Row, Statement } from "./database.ts";

/** Which database a thread opens. */
export interface OpenRequest {
  readonly file: string;
  /** Statements that lead from each version of the schema to the next. */
  readonly migrations: readonly (readonly string[])[];
  /** How long a statement waits for another process that has locked the file. */
  readonly busyTimeoutMs: number;
  /** Whether a missing file is an error instead of a new database. */
  readonly mustExist: boolean;
}

/** One transaction that the thread is asked for. */
export interface TransactionRequest {
  readonly id: number;
  readonly statements: readonly Statement[];
}

/** What a thread is told: to open a database, to make transactions in it, and to close it; then it can open another one. */
export type ThreadRequest = { readonly open: OpenRequest } | TransactionRequest | "close";

/** Why a database could not be opened, or why a transaction was not made. */
export type Failure =
  /** Another process owns the database. */
  | { readonly reason: "in-use" }
  | { readonly reason: "newer-schema" }
  /** A database of something else. */
  | { readonly reason: "foreign" }
  | { readonly reason: "damaged"; readonly message: string }
  /** The file or its log is no longer the one that was opened: what is written to it would be lost. */
  | { readonly reason: "replaced" }
  /** What SQLite said: its primary result code, 0 where the failure is not SQLite's. */
  | { readonly reason: "failed"; readonly resultCode: number; readonly message: string };

export interface Opened {
  readonly schemaVersion: number;
  readonly sqliteVersion: string;
  /** Whether other processes can read the database while it is open. */
  readonly isShared: boolean;
}

/** What the thread says: how opening went, then what came of transactions, several at once, and that it has let go of the file. */
export type ThreadMessage =
  | { readonly opened: Opened }
  | { readonly failure: Failure }
  | { readonly results: readonly TransactionResult[] }
  | "closed";

export type TransactionResult =
  | { readonly id: number; readonly rows: readonly (readonly Row[])[] }
  | { readonly id: number; readonly failure: Failure };
