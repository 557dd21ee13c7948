/**
 * The Merkle tree over the log in a database. The roots of full blocks of lines are kept there, so that a checkpoint or a proof reads few
 * lines of a long log. They only save work: whoever has a checkpoint notices one that is wrong.
 */
import type { Database } from "../../database/database.ts";
import { linesBetween } from "../../database/log-table.ts";
import { DimensionerError, isDimensionerError } from "../../errors/dimensioner-error.ts";
import type { Checkpoint } from "./events.ts";
import { GrowingTree, blockLines, inclusionPath, largestPowerBelow, leafHash, nodeHash } from "./tree.ts";

/** How many blocks are made at once: in Node-RED, everything else waits for as long as that takes. */
const madeAtOnce = 4;
/** How many blocks' lines are remembered: proofs of packages that were archived together are about the same ones. */
const mostRemembered = 64;

/** The tree as it grows; what it has read is remembered, for several proofs. */
export class LogTree {
  readonly #database: Pick<Database, "transaction">;
  /** The roots of the full blocks, as far as they were needed. */
  readonly #blocks: Buffer[] = [];
  /** The roots of parts of the tree that are longer than a block. */
  readonly #roots = new Map<string, Buffer>();
  /** The hashes of the lines of blocks, which may have more of them by now. */
  readonly #leaves = new Map<number, readonly Buffer[]>();

  constructor(database: Pick<Database, "transaction">) {
    this.#database = database;
  }

  /** How many lines the log has, and the root of all of them. Rejects with ERR_STORE, also if a line is missing. */
  async checkpointOf(store: string): Promise<Checkpoint> {
    const [[head] = []] = await this.#database.transaction([{ sql: "SELECT size FROM log_head" }]);
    const size = Number(head?.["size"]);
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

  /** Makes the roots of all blocks again, from the lines. */
  async forgetBlocks(): Promise<void> {
    this.#blocks.length = 0;
    this.#roots.clear();
    await this.#database.transaction([{ sql: "DELETE FROM log_blocks" }]);
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
        values: [this.#blocks.length, full],
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
    try {
      await this.#database.transaction(
        this.#blocks.slice(from, to).map((root, index) => ({
          sql: "INSERT INTO log_blocks (block, root) VALUES (?, ?) ON CONFLICT (block) DO UPDATE SET root = excluded.root",
          values: [from + index, root.toString("hex")],
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
