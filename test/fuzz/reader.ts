/** What a fuzzer knows of a reader of bytes from outside. */
export interface Reader {
  /** What inputs consist of. */
  readonly words: readonly string[];
  /** How long inputs may become. */
  readonly mostBytes: number;
  /** What one byte may take in memory, with all that is made of it. */
  readonly bytesPerByte: number;
  /**
   * Reads an input that comes in these pieces, and returns what it has made of it as a text, also of an error that it documents. Throws
   * anything else.
   */
  readonly read: (pieces: readonly Buffer[]) => Promise<string> | string;
  /**
   * Whether an input gives the same in pieces: `always`; `whole`: if it could be read in one piece, because what follows after an end may
   * be seen in time or not; `never`: it comes in one piece.
   */
  readonly isSame: "always" | "never" | "whole";
  readonly close?: () => Promise<unknown>;
}

/** How a text begins that says that an input could not be read. */
export const refused = "refused: ";
