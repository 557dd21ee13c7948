/** Reproducible random numbers: the same seed gives the same numbers in the same order. */
export interface Random {
  /** A number from 0 up to, but not including, 1. */
  next(): number;
  /** A whole number, both ends included. */
  integer(from: number, to: number): number;
  /** A GUID of version 4 in lower case. */
  guid(): string;
  /** 8 letters and digits, as on the label of a device. */
  deviceCode(): string;
}

// Without I, O, 0 and 1, which look alike on a label.
const codeLetters = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/** The sfc32 generator: 128 bits of state, so that runs with different seeds never give the same ids. */
export function createRandom(seed: number): Random {
  let [a, b, c, counter] = [seed >>> 0, Math.floor(seed / 2 ** 32) >>> 0, 0x9e3779b9, 1];
  function next(): number {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return (sum >>> 0) / 2 ** 32;
  }
  // The first numbers still resemble the seed.
  for (let skipped = 0; skipped < 15; skipped += 1) {
    next();
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
