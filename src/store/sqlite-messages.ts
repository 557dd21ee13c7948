import type { Row, Statement } from "./database.ts";

/** What the thread of a database is started with. */
export interface OpenRequest {
  readonly file: string;
  /** Statements that lead from each version of the schema to the next. */
  readonly migrations: readonly (readonly string[])[];
}

/** One transaction that the thread is asked for. */
export interface TransactionRequest {
  readonly id: number;
  readonly statements: readonly Statement[];
}

/** Why SQLite refused: its result code without the extension, and its own words. */
export interface SqliteFailure {
  /** SQLite's primary result code; 0 where the failure is not SQLite's. */
  readonly resultCode: number;
  readonly message: string;
}

/** Why a database could not be opened. */
export type OpenFailure =
  | { readonly reason: "newer-schema"; readonly found: number; readonly known: number }
  | { readonly reason: "damaged"; readonly message: string }
  | { readonly reason: "failed"; readonly failure: SqliteFailure };

/** What the thread says: how opening went, then what came of transactions, several at once. */
export type ThreadMessage =
  | { readonly opened: true; readonly schemaVersion: number; readonly sqliteVersion: string }
  | { readonly opened: false; readonly failure: OpenFailure }
  | { readonly results: readonly TransactionResult[] };

export type TransactionResult =
  | { readonly id: number; readonly rows: readonly (readonly Row[])[] }
  | { readonly id: number; readonly failure: SqliteFailure };
