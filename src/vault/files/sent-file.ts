import type { ReadFile } from "../archive-disk.ts";
import type { SentFile } from "./archive-files.ts";

const blockBytes = 256 * 1024;

/** Reads a file from the first byte to the last one, both included. Throws if it ends before. */
export async function* blocksOf(file: ReadFile, first: number, last: number): AsyncGenerator<Buffer> {
  for (let at = first; at <= last;) {
    // A new block each time: the one before it may still wait to be sent.
    const block = Buffer.allocUnsafe(Math.min(blockBytes, last - at + 1));
    const { bytesRead } = await file.read(block, 0, block.length, at);
    if (bytesRead === 0) {
      // The file was shortened meanwhile. The connection ends before the length that was promised.
      throw new Error("the file is shorter than it was");
    }
    at += bytesRead;
    yield block.subarray(0, bytesRead);
  }
}

/** Sends an opened file, or any part of it. */
export async function wholeOf(file: ReadFile | undefined): Promise<SentFile | undefined> {
  if (file === undefined) {
    return undefined;
  }
  try {
    const { size: bytes } = await file.stat();
    return { bytes, read: (first, last) => blocksOf(file, first, last), close: () => file.close() };
  } catch (error) {
    await file.close();
    throw error;
  }
}
