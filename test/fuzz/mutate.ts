/** A source of random numbers that gives the same ones again for the same seed (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 to below `end`. */
  below(end: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * end);
  }

  oneOf<T>(choices: readonly T[]): T {
    const chosen = choices[this.below(choices.length)];
    if (chosen === undefined) {
      throw new RangeError("There is nothing to choose from.");
    }
    return chosen;
  }
}

/** Values of bytes and of numbers at which readers go wrong. */
const bytes = [0, 1, 0x7f, 0x80, 0xff, 0x20, 0x22, 0x3c, 0x5b, 0x7b, 0x0a, 0x0d, 0x1d];
const numbers = [0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];
const decimals = ["0", "-1", "00", "1e999", "NaN", "9".repeat(40), "2147483647", "4294967296", "0.1e-400"];

/** What the inputs of a reader are made of. */
export interface Material {
  /** Whole inputs. */
  readonly pool: readonly Buffer[];
  /** What the format consists of. */
  readonly words: readonly string[];
  /** How many bytes an input has at most. */
  readonly mostBytes: number;
}

type Change = (input: Buffer, random: Random, material: Material) => Buffer;

/** Changes one of the inputs a few times. */
export function mutated(random: Random, material: Material): Buffer {
  let input = random.oneOf(material.pool);
  for (let left = 1 + random.below(5); left > 0; left -= 1) {
    input = random.oneOf(changes)(input, random, material).subarray(0, material.mostBytes);
  }
  return input;
}

const changes: readonly Change[] = [
  // One bit.
  (input, random) => overwritten(input, random, (byte) => byte ^ (1 << random.below(8))),
  // One byte.
  (input, random) => overwritten(input, random, () => random.oneOf([...bytes, random.below(256)])),
  // A length or another number, in any size and order.
  (input, random) => {
    const size = random.oneOf([1, 2, 4]);
    const changed = Buffer.from(input);
    if (changed.length >= size) {
      const at = random.below(changed.length - size + 1);
      const number = random.oneOf([...numbers, input.length, input.length - at]) % 256 ** size;
      if (random.below(2) === 0) {
        changed.writeUIntBE(number, at, size);
      } else {
        changed.writeUIntLE(number, at, size);
      }
    }
    return changed;
  },
  // A number that is written with digits.
  (input, random) => {
    const text = input.toString("latin1");
    const found = [...text.matchAll(/\d+/g)];
    if (found.length === 0) {
      return input;
    }
    const { index, 0: digits } = random.oneOf(found);
    return replaced(input, index, digits.length, Buffer.from(random.oneOf(decimals)));
  },
  // A word of the format.
  (input, random, { words }) => {
    const at = random.below(input.length + 1);
    const left = random.below(2) === 0 ? 0 : random.below(Math.min(9, input.length - at + 1));
    return replaced(input, at, left, Buffer.from(words.length === 0 ? "" : random.oneOf(words), "latin1"));
  },
  // A part less.
  (input, random) => {
    const { at, length } = partOf(input, random);
    return replaced(input, at, length, Buffer.alloc(0));
  },
  // The beginning only.
  (input, random) => input.subarray(0, random.below(input.length + 1)),
  // A part in another place.
  (input, random) => {
    const { at, length } = partOf(input, random);
    return replaced(input, random.below(input.length + 1), 0, input.subarray(at, at + length));
  },
  // A part of another input.
  (input, random, { pool }) => {
    const other = random.oneOf(pool);
    const { at, length } = partOf(other, random);
    const own = partOf(input, random);
    return replaced(input, own.at, random.below(2) * own.length, other.subarray(at, at + length));
  },
  // A part, again and again: what takes time for each part of an input shows itself in long ones.
  (input, random, { mostBytes }) => {
    const at = random.below(input.length + 1);
    const part = input.subarray(at, at + 1 + random.below(40));
    const times = random.below(
      1 + Math.min(10 ** (1 + random.below(5)), mostBytes / Math.max(1, part.length)),
    );
    return replaced(input, at, 0, Buffer.concat(Array.from({ length: times }, () => part)));
  },
];

function overwritten(input: Buffer, random: Random, change: (byte: number) => number): Buffer {
  const changed = Buffer.from(input);
  const at = random.below(input.length);
  if (input.length > 0) {
    changed.writeUInt8(change(changed.readUInt8(at)) & 0xff, at);
  }
  return changed;
}

function partOf(input: Buffer, random: Random): { readonly at: number; readonly length: number } {
  const at = random.below(input.length + 1);
  return { at, length: random.below(Math.min(input.length - at, 2 ** (1 + random.below(12))) + 1) };
}

function replaced(input: Buffer, at: number, length: number, part: Buffer): Buffer {
  return Buffer.concat([input.subarray(0, at), part, input.subarray(at + length)]);
}

/** Cuts an input into pieces, of which some are of one byte. */
export function inPieces(input: Buffer, random: Random): Buffer[] {
  const most = random.oneOf([1, 3, 100, 5_000]);
  const pieces: Buffer[] = [];
  for (let at = 0; at < input.length;) {
    // The rest of a long input in one piece.
    const length = pieces.length === 2_000 ? input.length : 1 + random.below(most);
    pieces.push(Buffer.from(input.subarray(at, at + length)));
    at += length;
  }
  return pieces;
}
