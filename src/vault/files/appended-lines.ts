import { constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { ProblemError, phrase } from "../../errors/interpolation.ts";
import { type ArchiveDisk, type ReadDisk, type ReadFile, isAbsent, writeWhole } from "../archive-disk.ts";
import { openPlain } from "../packages/package-files.ts";

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

/** Reads the complete lines of a file from a position on. Nothing if there is no such file. */
export async function* readFrom(path: string, disk: ReadDisk, from: number): ReturnType<typeof readLines> {
  const file = await openPlain(path, disk);
  if (file === undefined) {
    return;
  }
  try {
    yield* readLines(file, from);
  } finally {
    await file.close();
  }
}
