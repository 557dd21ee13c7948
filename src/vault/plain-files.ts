import { createHash } from "node:crypto";
import { constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { ProblemError, phrase } from "../errors/interpolation.ts";
import type { Disk } from "../media/disk.ts";
import { type ReadFile, type ReadDisk, writeWhole, type ArchiveDisk, isAbsent } from "./archive-disk.ts";
import { type FoundFile, openPlain } from "./packages/package-files.ts";
import type { SentFile } from "./vault.ts";

const sentAtOnceBytes = 256 * 1024;

/** Reads a file from the first byte to the last one, both included. Throws if it ends before. */
export async function* blocksOf(file: ReadFile, first: number, last: number): AsyncGenerator<Buffer> {
  for (let at = first; at <= last;) {
    // A new block each time: the one before it may still wait to be sent.
    const block = Buffer.allocUnsafe(Math.min(sentAtOnceBytes, last - at + 1));
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

const copiedAtOnceBytes = 1024 * 1024;

/**
 * Writes a copy of a plain file, and syncs it. The copy is worthless if the result is "changed": the file is not the `expected` one. It is
 * "missing" if there is no such file. `written` runs each step that writes, to tell its errors from those of reading; both are the
 * system's.
 */
export async function copyPlain(
  from: string,
  to: string,
  expected: FoundFile,
  {
    source,
    target,
    written,
  }: {
    readonly source: Pick<ReadDisk, "open">;
    readonly target: Pick<Disk, "open">;
    readonly written: <T>(work: () => Promise<T>) => Promise<T>;
  },
): Promise<"changed" | "missing" | undefined> {
  const opened = await openPlain(from, source);
  if (opened === undefined) {
    return "missing";
  }
  try {
    const copy = await written(() => target.open(to, "wx"));
    try {
      const hash = createHash("sha256");
      const block = Buffer.allocUnsafe(Math.min(expected.bytes + 1, copiedAtOnceBytes));
      let bytes = 0;
      for (;;) {
        const { bytesRead } = await opened.read(block, 0, block.length, bytes);
        if (bytesRead === 0) {
          break;
        }
        const read = block.subarray(0, bytesRead);
        hash.update(read);
        const at = bytes;
        await written(() => writeWhole(copy, read, at));
        bytes += bytesRead;
        if (bytes > expected.bytes) {
          return "changed";
        }
      }
      await written(() => copy.sync());
      return bytes === expected.bytes && hash.digest("hex") === expected.sha256 ? undefined : "changed";
    } finally {
      await copy.close();
    }
  } finally {
    await opened.close();
  }
}

const newline = 0x0a;
/** Reads and appends; what a link leads to is not written to. */
const appending =
  constants.O_RDWR | constants.O_APPEND | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const readBytes = 1024 * 1024;
/** The longest line that this package writes; a longer one is damage, and must not fill the memory. */
const longestLineBytes = 16 * 1024 * 1024;

/**
 * Adds lines, each with its end, to a file; resolves when they are on the disk. Returns false, and does nothing, if the file is not there and
 * is not to be made.
 */
export async function appendText(
  path: string,
  lines: Buffer,
  disk: ArchiveDisk,
  isToMake = false,
): Promise<boolean> {
  let file: FileHandle;
  try {
    file = await disk.open(path, isToMake ? appending | constants.O_CREAT : appending);
  } catch (error) {
    if (!isToMake && isAbsent(error)) {
      return false;
    }
    throw error;
  }
  try {
    const { size } = await file.stat();
    // Ends a line that a kill has interrupted.
    const { bytesRead, buffer } = await file.read(Buffer.alloc(1), 0, 1, Math.max(size - 1, 0));
    const isTorn = bytesRead === 1 && buffer.toString() !== "\n";
    await writeWhole(file, isTorn ? Buffer.concat([Buffer.from("\n"), lines]) : lines, size);
    await file.datasync();
  } finally {
    await file.close();
  }
  return true;
}

/**
 * Reads the complete lines of a file from a position on, some at a time, so that the memory does not depend on the size
 * of the file. Each result has the position where they end. Text behind the last newline is not a line.
 */
export async function* readLines(
  file: ReadFile,
  from: number,
): AsyncGenerator<{ lines: readonly string[]; end: number }> {
  let rest: Buffer = Buffer.alloc(0);
  for (let position = from; ;) {
    const block = Buffer.allocUnsafe(readBytes);
    const { bytesRead } = await file.read(block, 0, readBytes, position);
    if (bytesRead === 0) {
      return;
    }
    position += bytesRead;
    const bytes = Buffer.concat([rest, block.subarray(0, bytesRead)]);
    const lines: string[] = [];
    let start = 0;
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, start)) {
      lines.push(bytes.toString("utf8", start, end));
      start = end + 1;
    }
    rest = bytes.subarray(start);
    if (lines.length > 0) {
      yield { lines, end: position - rest.length };
    }
    if (rest.length > longestLineBytes) {
      throw new ProblemError(phrase("lineEndless"));
    }
  }
}
