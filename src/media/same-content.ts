import { constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { systemCode, throwIfAborted, type Disk, type TransferFacts } from "./disk.ts";

const blockBytes = 256 * 1024;

/**
 * Compares what is at a path with a file that was just written. It compares bytes rather than hashes, because pictures
 * of equal size differ in their first block, so that the rest need not be read. A link, a folder or a device is
 * "other", and is never opened.
 */
export async function compareWith(
  existing: string,
  part: string,
  disk: Disk,
  facts: TransferFacts,
): Promise<"gone" | "other" | "same"> {
  try {
    const [stats, ours] = await Promise.all([disk.lstat(existing), disk.lstat(part)]);
    if (!stats.isFile() || stats.size !== ours.size) {
      return "other";
    }
  } catch (error) {
    return verdict(error);
  }
  const handles: FileHandle[] = [];
  try {
    // The path may be replaced by a link or a pipe after the check: neither is followed or waited for.
    const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
    for (const path of [existing, part]) {
      handles.push(await disk.open(path, flags));
    }
    const [theirs, ours] = handles;
    if (theirs === undefined || ours === undefined) {
      return "other";
    }
    const stats = await theirs.stat();
    return stats.isFile() && (await sameBytes(theirs, ours, facts)) ? "same" : "other";
  } catch (error) {
    return verdict(error);
  } finally {
    await Promise.allSettled(handles.map((handle) => handle.close()));
  }
}

async function sameBytes(a: FileHandle, b: FileHandle, facts: TransferFacts): Promise<boolean> {
  const blocks = [Buffer.allocUnsafe(blockBytes), Buffer.allocUnsafe(blockBytes)] as const;
  for (let position = 0; ;) {
    throwIfAborted(facts);
    const [left, right] = await Promise.all([
      readBlock(a, blocks[0], position),
      readBlock(b, blocks[1], position),
    ]);
    if (left !== right || blocks[0].compare(blocks[1], 0, right, 0, left) !== 0) {
      return false;
    }
    if (left < blockBytes) {
      return true;
    }
    position += left;
  }
}

/** Reads a whole block, or up to the end of the file: a single read may return less. */
async function readBlock(file: FileHandle, block: Buffer, position: number): Promise<number> {
  let filled = 0;
  while (filled < block.length) {
    const { bytesRead } = await file.read(block, filled, block.length - filled, position + filled);
    if (bytesRead === 0) {
      break;
    }
    filled += bytesRead;
  }
  return filled;
}

/** A file that cannot be read counts as other content. */
function verdict(error: unknown): "gone" | "other" {
  const code = systemCode(error);
  if (code === "ENOENT") {
    return "gone";
  }
  if (code === undefined) {
    throw error;
  }
  return "other";
}
