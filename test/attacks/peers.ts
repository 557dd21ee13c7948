/** What `peers-child.ts` and the table of hostile peers share. */

export type Operation =
  | "bucket: list"
  | "bucket: read"
  | "bucket: upload"
  | "cloud through a proxy"
  | "cloud: list"
  | "cloud: medium to a Buffer"
  | "cloud: medium to a file"
  | "device: measure"
  | "evidence page"
  | "PostgreSQL: open"
  | "scanner"
  | "time stamp"
  | "webhook";

/** What a process says of itself. */
export interface Told {
  /** The code of the error and the key of its sentence, or how it ended otherwise. */
  readonly said: string;
  readonly seconds: number;
  readonly heldMs: number;
  readonly grownBytes: number;
}

/** The time limit of each client that takes one, where that is what is tried. */
export const timeoutMs = 2_000;

/** The same where another limit is: a busy computer needs longer than two seconds to reach that. */
export const patientMs = 30_000;

/** The same of a database: it is flooded with more, which takes a while. */
export const databaseMs = 10_000;
