import type { Row, Statement } from "./database.ts";
import type { Failure } from "./sqlite-messages.ts";

/** How a program opens a database that it does not own. */
export interface ToolRequest {
  /**
   * `read`: changes nothing, neither in the file nor beside it, as long as its log is empty. `write`: writes while its
   * owner may be writing too. `lock`: only prevents all others from opening it. `temporary`: a private one, on the disk
   * when it is large.
   */
  readonly as: "lock" | "read" | "temporary" | "write";
  /** The database's file; for a temporary one its name in errors. */
  readonly file: string;
}

/** What the thread is to do with a database; the first transaction opens it. Each request has an answer with its `id`. */
export interface ToolTask {
  readonly id: number;
  /** The number of the database in its thread. */
  readonly database: number;
  readonly request: ToolRequest;
  /** One transaction, or the end of the database. */
  readonly statements: readonly Statement[] | "close";
}

export type ToolAnswer =
  | { readonly id: number; readonly rows: readonly (readonly Row[])[] }
  | { readonly id: number; readonly failure: Failure };
