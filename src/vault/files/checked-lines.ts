import { constants } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { ProblemError, phrase } from "../../errors/interpolation.ts";
import { listLimits, parseJson } from "../../model/parse-json.ts";
import { type ArchiveDisk, type ReadDisk, type ReadFile, namesIn, writeWhole } from "../archive-disk.ts";
import { openPlain } from "../packages/package-files.ts";

const newline = 0x0a;
/** Reads and appends; what a link leads to is not written to. */
const appending =
  constants.O_RDWR |
  constants.O_APPEND |
  constants.O_CREAT |
  (constants.O_NOFOLLOW ?? 0) |
  (constants.O_NONBLOCK ?? 0);
const readBytes = 1024 * 1024;
/** The longest line that this package writes; a longer one is damage, and must not fill the memory. */
const longestLineBytes = 16 * 1024 * 1024;

/** `<CRC-32 of the JSON, 8 hexadecimal digits> <JSON>\n`. */
export function encodeLine(record: object): Buffer {
  const json = JSON.stringify(record);
  return Buffer.from(`${checksum(json)} ${json}\n`);
}

/** Adds lines to a file, which is created if it is missing; resolves when they are on the disk. */
export async function addLines(path: string, records: readonly object[], disk: ArchiveDisk): Promise<void> {
  await appendText(path, Buffer.concat(records.map(encodeLine)), disk);
}

/** The same for lines that are written already, each with its end. */
export async function appendText(path: string, lines: Buffer, disk: ArchiveDisk): Promise<void> {
  const file = await disk.open(path, appending);
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
}

/** How the names of the objects of a bucket's log begin. `at`: ISO 8601, UTC. */
export function logObjectTime(at: string): string {
  return at.replaceAll(/[:.-]/g, "");
}

/** Decodes a line; undefined if its checksum is wrong, or it is not JSON. */
export function decodeLine(text: string): unknown {
  const json = text.slice(9);
  if (text[8] !== " " || text.slice(0, 8) !== checksum(json)) {
    return undefined;
  }
  try {
    return parseJson(json, listLimits);
  } catch {
    return undefined;
  }
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

function checksum(json: string): string {
  return crc32(json).toString(16).padStart(8, "0");
}

/**
 * Reads the lines of a log: those of its file, then those of the objects into which a bucket's log is divided, in the order of
 * their names. Nothing if there is no log.
 */
export async function* readLog(path: string, disk: ReadDisk): AsyncGenerator<string> {
  for await (const lines of new LogReader(path, disk).read()) {
    yield* lines;
  }
}

/** Reads the lines of a log's file alone. */
export async function* readLogFile(path: string, disk: ReadDisk): AsyncGenerator<string, undefined> {
  for await (const { lines } of readFrom(path, disk, 0)) {
    yield* lines;
  }
}

/** Reads a log like `readLog`, and later what was added to it. Each line is read once. */
export class LogReader {
  readonly #path: string;
  readonly #disk: ReadDisk;
  /** Where the complete lines of the file end that were read. */
  #readTo = 0;
  /** The objects that were read: another computer's clock may give a later one an earlier name. */
  readonly #parts = new Set<string>();

  constructor(path: string, disk: ReadDisk) {
    this.#path = path;
    this.#disk = disk;
  }

  /** Counts what is in the log now as read. The objects of a bucket, of which there may be many, are not read for that. */
  async skip(): Promise<void> {
    for await (const { end } of readFrom(this.#path, this.#disk, this.#readTo)) {
      this.#readTo = end;
    }
    for (const name of await namesIn(this.#path, this.#disk)) {
      this.#parts.add(name);
    }
  }

  /** Yields the lines that were not read yet, some at a time. `isOld`: leaves out an object of a bucket by its name. */
  async *read(isOld = (_name: string): boolean => false): AsyncGenerator<readonly string[]> {
    for await (const { lines, end } of readFrom(this.#path, this.#disk, this.#readTo)) {
      this.#readTo = end;
      yield lines;
    }
    const parts = await namesIn(this.#path, this.#disk);
    for (const name of parts.filter((one) => !this.#parts.has(one) && !isOld(one)).sort()) {
      for await (const { lines } of readFrom(join(this.#path, name), this.#disk, 0)) {
        yield lines;
      }
      this.#parts.add(name);
    }
  }
}

/** Reads the complete lines of a file from a position on. Nothing if there is no such file. */
async function* readFrom(path: string, disk: ReadDisk, from: number): ReturnType<typeof readLines> {
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
