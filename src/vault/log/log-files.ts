/**
 * The logs beside the packages: a folder for each store. In a folder, each writer has a file to which it appends; in a bucket, each
 * addition is an object, and a full block of lines becomes one object later. A line may be there twice, and lines come in no certain
 * order, because several write at the same time: each has its number before it. Links are not followed.
 */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { LogLine } from "../../database/log-table.ts";
import { ProblemError } from "../../errors/interpolation.ts";
import { type ReadDisk, namesInState, stateFolderName } from "../archive-disk.ts";
import { readLines } from "../plain-files.ts";
import { openPlain, readPlain } from "../packages/package-files.ts";
import { blockLines } from "./tree.ts";

const logName = "log";
/** The folder of all logs, in its parts, below that of the packages. */
export const logParts: readonly string[] = [stateFolderName, logName];
/** How the names of a log's files end. */
export const logEnd = ".log";

/** With `block`, all lines from the first to the last one are in it; of others, those of one writer. */
const batchName = /^(\d{12})-(\d{12})-(?:[0-9a-f]{12}|(block))\.log$/;
const lineShape = /^(0|[1-9]\d{0,14}) (\{.*\})$/s;
/** More than any batch of lines has; a longer file is damage, and must not fill the memory. */
const mostBatchBytes = 64 * 1024 * 1024;
/** An object store answers several requests at a time. */
const batchesAtOnce = 8;

/** What the name of an object of a bucket's log says. */
export interface NamedBatch {
  readonly name: string;
  readonly first: number;
  readonly last: number;
  readonly isBlock: boolean;
}

/** The objects with lines among these names. */
export function batchesOf(names: readonly string[]): NamedBatch[] {
  return names.flatMap((name) => {
    const [, first, last, block] = batchName.exec(name) ?? [];
    return first === undefined
      ? []
      : [{ name, first: Number(first), last: Number(last), isBlock: block !== undefined }];
  });
}

/** The name of the object with these lines of a bucket's log. Only a full block always has the same one. */
export function nameOfBatch(lines: readonly LogLine[]): string {
  const digits = (n: number): string => String(n).padStart(12, "0");
  const [first, last] = [lines[0]?.n ?? 0, lines.at(-1)?.n ?? 0];
  const isBlock = first % blockLines === 0 && last === first + blockLines - 1 && lines.length === blockLines;
  return `${digits(first)}-${digits(last)}-${isBlock ? "block" : randomUUID().slice(-12)}${logEnd}`;
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

/** The ID of a store; what systems put into each folder that they show, such as .DS_Store, has another name. */
const storeId = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** The stores that have a log beside these packages. Throws ERR_FILE if a link leads to them. */
export async function storesWithLog(root: string, disk: ReadDisk): Promise<string[]> {
  return (await namesInState(root, [logName], disk)).filter((name) => storeId.test(name)).sort();
}

/** Reads the log of one store, and later what was added to it. */
export class LogFilesReader {
  /** What is named like a part of the log and is no regular file, or has no lines: paths below the folder of packages. */
  readonly strays = new Set<string>();
  readonly #root: string;
  readonly #store: string;
  readonly #disk: ReadDisk;
  /** Up to where each file was read. */
  readonly #readTo = new Map<string, number>();

  constructor(root: string, store: string, disk: ReadDisk) {
    this.#root = root;
    this.#store = store;
    this.#disk = disk;
  }

  /**
   * Yields the lines that were not read yet, some at a time, in no certain order. `least`: lines with smaller numbers are not needed, and
   * may be left out. Throws ERR_FILE if a link leads to them.
   */
  async *read(least = 0): AsyncGenerator<readonly LogLine[]> {
    for (let hasGone = true; hasGone;) {
      const names = await this.#names();
      const batches = batchesOf(names);
      const ofBatches = new Set(batches.map(({ name }) => name));
      const gone: string[] = [];
      for (const name of names.filter((one) => !ofBatches.has(one))) {
        yield* this.#readFile(name, gone);
      }
      const left = batches.filter(({ name, last }) => last >= least && !this.#readTo.has(name));
      for (let from = 0; from < left.length; from += batchesAtOnce) {
        const some = left.slice(from, from + batchesAtOnce);
        yield* await Promise.all(some.map(({ name }) => this.#readBatch(name, gone)));
      }
      // Its lines are in one object with others by now.
      const there = gone.length === 0 ? [] : await this.#names();
      gone.filter((name) => there.includes(name)).forEach((name) => this.#setAside(name));
      hasGone = gone.some((name) => !there.includes(name));
    }
  }

  async #names(): Promise<string[]> {
    const names = await namesInState(this.#root, [logName, this.#store], this.#disk);
    return names.filter((name) => name.endsWith(logEnd) && !this.strays.has(this.#pathOf(name))).sort();
  }

  #pathOf(name: string): string {
    return [...logParts, this.#store, name].join("/");
  }

  #setAside(name: string): void {
    this.strays.add(this.#pathOf(name));
  }

  async *#readFile(name: string, gone: string[]): AsyncGenerator<readonly LogLine[]> {
    const file = await openPlain(join(this.#root, ...logParts, this.#store, name), this.#disk);
    if (file === undefined) {
      gone.push(name);
      return;
    }
    try {
      for await (const { lines, end } of readLines(file, this.#readTo.get(name) ?? 0)) {
        this.#readTo.set(name, end);
        yield lines.map(readLine).filter((line) => line !== undefined);
      }
    } catch (error) {
      if (!(error instanceof ProblemError)) {
        throw error;
      }
      this.#setAside(name);
    } finally {
      await file.close();
    }
  }

  async #readBatch(name: string, gone: string[]): Promise<readonly LogLine[]> {
    const path = join(this.#root, ...logParts, this.#store, name);
    const content = await readPlain(path, this.#disk, mostBatchBytes);
    if (typeof content === "string") {
      if (content === "none") {
        gone.push(name);
      } else {
        this.#setAside(name);
      }
      return [];
    }
    const lines = content.toString().split("\n").slice(0, -1).map(readLine);
    this.#readTo.set(name, 0);
    return lines.filter((line) => line !== undefined);
  }
}

/** More than the longest line that this package writes. */
const endBytes = 64 * 1024;

/**
 * The last line of each file of a log, or of a bucket's log that of the object with the highest number: what the database has to have
 * at least.
 */
export async function lastLines(root: string, store: string, disk: ReadDisk): Promise<LogLine[]> {
  const left = new Set<string>();
  for (;;) {
    const all = await namesInState(root, [logName, store], disk);
    const names = all.filter((name) => name.endsWith(logEnd) && !left.has(name));
    const batches = batchesOf(names);
    const ofBatches = new Set(batches.map(({ name }) => name));
    const [highest] = batches.toSorted((one, other) => other.last - one.last);
    const read = names.filter((name) => !ofBatches.has(name) || name === highest?.name);
    const ends: LogLine[] = [];
    let isHighestRead = true;
    for (const name of read) {
      const file = await openPlain(join(root, ...logParts, store, name), disk);
      if (file === undefined) {
        left.add(name);
        isHighestRead &&= name !== highest?.name;
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
    // Otherwise it became a part of a larger object meanwhile, or is none that can be read.
    if (isHighestRead) {
      return ends;
    }
  }
}
