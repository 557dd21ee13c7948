/**
 * The logs beside the packages: a folder for each store. In a folder, each writer has a file to which it appends; in a bucket, each
 * addition is an object. A line may be there twice, and lines come in no certain order, because several write at the same time: each
 * has its number before it.
 */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { LogLine } from "../../database/log-table.ts";
import { type ReadDisk, namesIn, stateFolderName } from "../archive-disk.ts";
import { readFrom } from "../files/appended-lines.ts";
import { openPlain } from "../packages/package-files.ts";

/** The folder of all logs, in its parts, below that of the packages. */
export const logParts: readonly string[] = [stateFolderName, "log"];
/** How the names of a log's files end. */
export const logEnd = ".log";

const batchName = /^(\d{12})-(\d{12})-[0-9a-f]{12}\.log$/;
const lineShape = /^(0|[1-9]\d{0,14}) (\{.*\})$/s;

/** The name of the object with these lines of a bucket's log. No two have the same one. */
export function nameOfBatch(first: number, last: number): string {
  const digits = (n: number): string => String(n).padStart(12, "0");
  return `${digits(first)}-${digits(last)}-${randomUUID().slice(-12)}${logEnd}`;
}

/** How lines are written: the number, a space, the line. */
export function textOfLines(lines: readonly LogLine[]): Buffer {
  return Buffer.from(lines.map(({ n, line }) => `${n} ${line}\n`).join(""));
}

/** Reads what is written; undefined if it is no line, such as one that a kill has cut off. */
export function readLine(text: string): LogLine | undefined {
  const [, n, line] = lineShape.exec(text) ?? [];
  return n === undefined || line === undefined ? undefined : { n: Number(n), line };
}

/** The stores that have a log beside these packages. */
export async function storesWithLog(root: string, disk: ReadDisk): Promise<string[]> {
  return (await namesIn(join(root, ...logParts), disk)).sort();
}

/** Reads the log of one store, and later what was added to it. */
export class LogFilesReader {
  readonly #folder: string;
  readonly #disk: ReadDisk;
  /** Up to where each file was read. */
  readonly #readTo = new Map<string, number>();
  /** What is no line, so far. */
  unreadable = 0;

  constructor(root: string, store: string, disk: ReadDisk) {
    this.#folder = join(root, ...logParts, store);
    this.#disk = disk;
  }

  /**
   * Yields the lines that were not read yet, some at a time, in no certain order. `from`: lines with smaller numbers are not needed, and
   * may be left out.
   */
  async *read(from = 0): AsyncGenerator<readonly LogLine[]> {
    for (const name of (await namesIn(this.#folder, this.#disk)).sort()) {
      const [, , last] = batchName.exec(name) ?? [];
      if (!name.endsWith(logEnd) || (last !== undefined && (Number(last) < from || this.#readTo.has(name)))) {
        continue;
      }
      for await (const { lines, end } of readFrom(
        join(this.#folder, name),
        this.#disk,
        this.#readTo.get(name) ?? 0,
      )) {
        this.#readTo.set(name, end);
        const read = lines.map(readLine);
        this.unreadable += read.filter((line) => line === undefined).length;
        yield read.filter((line) => line !== undefined);
      }
    }
  }
}

/** More than the longest line that this package writes. */
const endBytes = 64 * 1024;

/**
 * The last line of each file of a log, or of a bucket's log that of the object with the highest number: what the database has to have
 * at least.
 */
export async function lastLines(root: string, store: string, disk: ReadDisk): Promise<LogLine[]> {
  const folder = join(root, ...logParts, store);
  const names = (await namesIn(folder, disk)).filter((name) => name.endsWith(logEnd));
  const batches = names.filter((name) => batchName.test(name));
  const highest = batches.toSorted((one, other) => lastOf(other) - lastOf(one)).slice(0, 1);
  const ends: LogLine[] = [];
  for (const name of [...names.filter((one) => !batchName.test(one)), ...highest]) {
    const file = await openPlain(join(folder, name), disk);
    if (file === undefined) {
      continue;
    }
    try {
      const { size } = await file.stat();
      const from = Math.max(0, size - endBytes);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(endBytes), 0, endBytes, from);
      // What a kill has cut off has no end.
      const whole = buffer.toString("utf8", 0, bytesRead).split("\n").slice(0, -1);
      const last = whole.map(readLine).findLast((line) => line !== undefined);
      ends.push(...(last === undefined ? [] : [last]));
    } finally {
      await file.close();
    }
  }
  return ends;
}

function lastOf(name: string): number {
  return Number(batchName.exec(name)?.[2]);
}
