import type { Row, Statement } from "./database.ts";
import type { Failure } from "./sqlite-messages.ts";

/** How a program opens a database that it does not own. */
export interface ToolRequest {
  /**
   * `read`: changes nothing, neither in the file nor beside it, as long as its log is empty. `write`: beside the owner. `lock`: only keeps
   * all owners out. `temporary`: a private one, on the disk where it is large.
   */
  readonly as: "lock" | "read" | "temporary" | "write";
  /** The database's file; of a temporary one its name for errors. */
  readonly file: string;
}

/** One transaction that the thread is asked for. */
export interface ToolTransaction {
  readonly id: number;
  readonly statements: readonly Statement[];
}

export type ToolAnswer =
  | { readonly id: number; readonly rows: readonly (readonly Row[])[] }
  | { readonly id: number; readonly failure: Failure };
