/**
 * The Merkle tree over the lines of a log, as RFC 6962 (section 2.1) has it: whoever has the root of the first n lines has all of
 * them, for no other lines have the same root. The functions are pure; a hash is a Buffer of 32 bytes.
 */
import { hash } from "node:crypto";

/** How many lines have one hash in the database, so that a proof in a long log reads few lines. A power of two. */
export const blockLines = 256;

const [leafPrefix, nodePrefix] = [Buffer.of(0), Buffer.of(1)];

/** The hash of one line. Its first byte keeps a line from passing for a node. */
export function leafHash(line: string | Uint8Array): Buffer {
  return sha256(typeof line === "string" ? `\0${line}` : Buffer.concat([leafPrefix, line]));
}

/** The hash of two halves. */
export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  return sha256(Buffer.concat([nodePrefix, left, right]));
}

function sha256(content: string | Uint8Array): Buffer {
  return hash("sha256", content, "buffer");
}

/** A tree that grows by one line at a time. It keeps one hash for each bit of its size. */
export class GrowingTree {
  /** The roots of its full halves, the largest first. */
  readonly #peaks: Buffer[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Adds a line, or the hash of a full block of lines if all before it were full blocks. */
  add(hash: Buffer, lines = 1): void {
    let peak = hash;
    for (let rest = this.#size / lines; rest % 2 === 1; rest = (rest - 1) / 2) {
      peak = nodeHash(this.#peaks.pop() ?? peak, peak);
    }
    this.#peaks.push(peak);
    this.#size += lines;
  }

  /** The root of all lines so far. */
  root(): Buffer {
    const [last = sha256(""), ...more] = this.#peaks.toReversed();
    return more.reduce((right, left) => nodeHash(left, right), last);
  }
}

/** The root of some lines, at least one. */
export function rootOfLines(lines: readonly string[]): Buffer {
  const tree = new GrowingTree();
  lines.forEach((line) => tree.add(leafHash(line)));
  return tree.root();
}

/**
 * The hashes that lead from line `n` to the root of the first `size` lines, the nearest first (RFC 6962, section 2.1.1). `rootOf`
 * gives the root of the lines from the first number up to the second one, which is not included.
 */
export async function inclusionPath(
  n: number,
  size: number,
  rootOf: (start: number, end: number) => Promise<Buffer>,
): Promise<Buffer[]> {
  const path: Buffer[] = [];
  let [start, end] = [0, size];
  while (end - start > 1) {
    const middle = start + largestPowerBelow(end - start);
    if (n < middle) {
      path.push(await rootOf(middle, end));
      end = middle;
    } else {
      path.push(await rootOf(start, middle));
      start = middle;
    }
  }
  return path.toReversed();
}

/** The root to which a path leads from line `n` of `size` (RFC 9162, section 2.1.3.2); undefined if the path has another length. */
export function rootByPath(
  leaf: Buffer,
  n: number,
  size: number,
  path: readonly Uint8Array[],
): Buffer | undefined {
  if (!(n >= 0 && n < size)) {
    return undefined;
  }
  let hash = leaf;
  let [own, last] = [n, size - 1];
  for (const other of path) {
    if (last === 0) {
      return undefined;
    }
    if (own % 2 === 1 || own === last) {
      hash = nodeHash(other, hash);
      // What has no neighbour on the right moves up alone.
      while (own % 2 === 0 && own !== 0) {
        [own, last] = [half(own), half(last)];
      }
    } else {
      hash = nodeHash(hash, other);
    }
    [own, last] = [half(own), half(last)];
  }
  return last === 0 ? hash : undefined;
}

/** The largest power of two that is smaller than a number above 1: where a tree is divided. */
export function largestPowerBelow(size: number): number {
  let power = 1;
  while (power * 2 < size) {
    power *= 2;
  }
  return power;
}

function half(number: number): number {
  return Math.floor(number / 2);
}
