/** Repeatable chance: the same seed gives the same numbers in the same order. */
export interface Random {
  /** From 0 up to, not including, 1. */
  next(): number;
  /** A whole number, both ends included. */
  integer(from: number, to: number): number;
  /** A GUID of version 4 in lower case. */
  guid(): string;
  /** 8 letters and digits, as on the label of a device. */
  deviceCode(): string;
}

// Without I, O, 0 and 1, which nobody can tell apart on a label.
const codeLetters = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/** The mulberry32 generator. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  const integer = (from: number, to: number): number => from + Math.floor(next() * (to - from + 1));
  return {
    next,
    integer,
    guid: () =>
      "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx".replace(/[xy]/g, (letter) =>
        (letter === "x" ? integer(0, 15) : integer(8, 11)).toString(16),
      ),
    deviceCode: () => Array.from({ length: 8 }, () => codeLetters[integer(0, 31)]).join(""),
  };
}
