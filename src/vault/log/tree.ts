/**
 * The Merkle tree over the lines of a log, as RFC 6962 (section 2.1) has it: whoever has the root of the first n lines has all of
 * them, for no other lines have the same root. A hash is a Buffer of 32 bytes.
 */
import { hash } from "node:crypto";
import type { Database } from "../../database/database.ts";
import { linesBetween } from "../../database/log-table.ts";
import { DimensionerError, isDimensionerError } from "../../errors/dimensioner-error.ts";
import { type Checkpoint, readEvent } from "./events.ts";

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
function largestPowerBelow(size: number): number {
  let power = 1;
  while (power * 2 < size) {
    power *= 2;
  }
  return power;
}

function half(number: number): number {
  return Math.floor(number / 2);
}

/** How many blocks are made at once: in Node-RED, everything else waits for as long as that takes. */
const madeAtOnce = 4;
/** How many blocks' lines are remembered: proofs of packages that were archived together are about the same ones. */
const mostRemembered = 64;

/**
 * The tree over the log in a database, as it grows; what it has read is remembered, for several proofs. The roots of full blocks of lines are
 * kept in the database, so that a checkpoint or a proof reads few lines of a long log. They only save work: a checkpoint takes those that a
 * time stamp agrees with, and makes all others again from the lines.
 */
export class LogTree {
  readonly #database: Pick<Database, "transaction">;
  /** The roots of the full blocks, as far as they were needed. */
  readonly #blocks: Buffer[] = [];
  /** Roots of blocks from this one on are made from the lines, whatever the database has. */
  #readable = Infinity;
  /** The roots of parts of the tree that are longer than a block. */
  readonly #roots = new Map<string, Buffer>();
  /** The hashes of the lines of blocks, which may have more of them by now. */
  readonly #leaves = new Map<number, readonly Buffer[]>();

  constructor(database: Pick<Database, "transaction">) {
    this.#database = database;
  }

  /** How many lines the log has, and the root of all of them. Rejects with ERR_STORE, also if a line is missing. */
  async checkpointOf(store: string): Promise<Checkpoint> {
    const [[head] = [], [last] = []] = await this.#database.transaction([
      { sql: "SELECT size FROM log_head" },
      { sql: "SELECT line FROM log WHERE what = 'stamped' ORDER BY n DESC LIMIT 1" },
    ]);
    const size = Number(head?.["size"]);
    const stamped = readEvent(String(last?.["line"]));
    const isSigned =
      stamped?.what === "stamped" && (await this.rootOf(stamped.size)).toString("base64") === stamped.root;
    this.forgetBlocks(isSigned ? stamped.size : 0);
    return { store, size, root: await this.rootOf(size) };
  }

  /** The root of the first lines. Rejects with ERR_STORE. */
  async rootOf(size: number): Promise<Buffer> {
    await this.#readBlocks(size);
    return size === 0 ? new GrowingTree().root() : await this.#rootOf(0, size);
  }

  /** The hashes that lead from line `n` to the root of the first `size` lines, the nearest first. Rejects with ERR_STORE. */
  async proofOf(n: number, size: number): Promise<Buffer[]> {
    await this.#readBlocks(size);
    return inclusionPath(n, size, (start, end) => this.#rootOf(start, end));
  }

  /** Makes the roots of blocks again, from the lines: of those that go beyond the first `size` lines. */
  forgetBlocks(size = 0): void {
    this.#readable = Math.min(this.#readable, Math.floor(size / blockLines));
    this.#blocks.length = Math.min(this.#blocks.length, this.#readable);
    this.#roots.clear();
  }

  async #rootOf(start: number, end: number): Promise<Buffer> {
    const size = end - start;
    const first = Math.floor(start / blockLines);
    if (size < blockLines) {
      const leaves = await this.#leavesOf(first, end);
      return rootOfLeaves(leaves.slice(start - first * blockLines, end - first * blockLines));
    }
    if (size === blockLines) {
      return this.#blocks[first] ?? rootOfLeaves(await this.#leavesOf(first, end));
    }
    const key = `${start}-${end}`;
    const known = this.#roots.get(key);
    if (known !== undefined) {
      return known;
    }
    const middle = start + largestPowerBelow(size);
    const root = nodeHash(await this.#rootOf(start, middle), await this.#rootOf(middle, end));
    this.#roots.set(key, root);
    return root;
  }

  /** The hashes of the lines of a block, at least of those before `end`. */
  async #leavesOf(block: number, end: number): Promise<readonly Buffer[]> {
    const start = block * blockLines;
    const known = this.#leaves.get(block);
    if (known !== undefined && known.length >= end - start) {
      return known;
    }
    const leaves = (await this.#linesFrom(start, start + blockLines)).map(leafHash);
    if (leaves.length < end - start) {
      throw gapError(start + leaves.length);
    }
    const [oldest] = this.#leaves.size < mostRemembered ? [] : this.#leaves.keys();
    if (oldest !== undefined) {
      this.#leaves.delete(oldest);
    }
    this.#leaves.set(block, leaves);
    return leaves;
  }

  /** Reads the roots of the full blocks before `size`, and makes those that are not there yet. */
  async #readBlocks(size: number): Promise<void> {
    const full = Math.floor(size / blockLines);
    if (this.#blocks.length >= full) {
      return;
    }
    const [rows = []] = await this.#database.transaction([
      {
        sql: "SELECT block, root FROM log_blocks WHERE block >= ? AND block < ? ORDER BY block",
        values: [this.#blocks.length, Math.min(full, this.#readable)],
      },
    ]);
    for (const { block, root } of rows) {
      if (Number(block) !== this.#blocks.length) {
        break;
      }
      this.#blocks.push(Buffer.from(String(root), "hex"));
    }
    while (this.#blocks.length < full) {
      await this.#makeBlocks(this.#blocks.length, Math.min(full, this.#blocks.length + madeAtOnce));
    }
  }

  async #makeBlocks(from: number, to: number): Promise<void> {
    const leaves = (await this.#linesFrom(from * blockLines, to * blockLines)).map(leafHash);
    if (leaves.length < (to - from) * blockLines) {
      throw gapError(from * blockLines + leaves.length);
    }
    for (let at = 0; at < leaves.length; at += blockLines) {
      this.#blocks.push(rootOfLeaves(leaves.slice(at, at + blockLines)));
    }
    const [rows = []] = await this.#database.transaction([
      { sql: "SELECT block, root FROM log_blocks WHERE block >= ? AND block < ?", values: [from, to] },
    ]);
    const known = new Map(rows.map(({ block, root }) => [Number(block), String(root)]));
    const differing = this.#blocks
      .slice(from, to)
      .map((root, index) => ({ block: from + index, root: root.toString("hex") }))
      .filter(({ block, root }) => known.get(block) !== root);
    if (differing.length === 0) {
      return;
    }
    try {
      await this.#database.transaction(
        differing.map(({ block, root }) => ({
          sql: "INSERT INTO log_blocks (block, root) VALUES (?, ?) ON CONFLICT (block) DO UPDATE SET root = excluded.root",
          values: [block, root],
        })),
      );
    } catch (error) {
      // A database that was opened to be read does not keep them, and the next one makes them again.
      if (!isDimensionerError(error)) {
        throw error;
      }
    }
  }

  /** The lines up to the first one that is missing. */
  async #linesFrom(start: number, end: number): Promise<string[]> {
    const lines = await linesBetween(this.#database, start, end);
    return lines.filter(({ n }, index) => n === start + index).map(({ line }) => line);
  }
}

function rootOfLeaves(leaves: readonly Buffer[]): Buffer {
  const tree = new GrowingTree();
  leaves.forEach((leaf) => tree.add(leaf));
  return tree.root();
}

function gapError(count: number): DimensionerError {
  return new DimensionerError("logGap", { surface: "store", operation: "log" }, { count });
}
