import * as fs from "node:fs";
import { setImmediate } from "node:timers/promises";
import type { EntryFacts, ReadDisk, ReadFile } from "./archive-disk.ts";

/** How many names of a folder are read at once: one folder may have a million. */
const namesAtOnce = 1_000;
/** After so long, what else the thread has to do gets its turn, such as to hear that it should stop. */
const turnEveryMs = 25;

/**
 * The file system for a thread or a process that has nothing else to do: each call waits for the disk. Handing a call over to another
 * thread costs several times what reading a small file does.
 */
export class BlockingDisk implements ReadDisk {
  #turnedAt = performance.now();

  async open(path: string, flags: number): Promise<ReadFile> {
    await this.#turn();
    return new BlockingFile(fs.openSync(path, flags), () => this.#turn());
  }

  async lstat(path: string): Promise<EntryFacts> {
    return fs.lstatSync(path);
  }

  async readdir(path: string): Promise<string[]> {
    return fs.readdirSync(path);
  }

  async opendir(path: string): ReturnType<ReadDisk["opendir"]> {
    return entriesOf(fs.opendirSync(path, { bufferSize: namesAtOnce }));
  }

  async realpath(path: string): Promise<string> {
    return fs.realpathSync.native(path);
  }

  async #turn(): Promise<void> {
    if (performance.now() - this.#turnedAt > turnEveryMs) {
      await setImmediate();
      this.#turnedAt = performance.now();
    }
  }
}

async function* entriesOf(folder: fs.Dir): AsyncGenerator<fs.Dirent> {
  try {
    for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) {
      yield entry;
    }
  } finally {
    folder.closeSync();
  }
}

class BlockingFile implements ReadFile {
  readonly #file: number;
  readonly #turn: () => Promise<void>;

  constructor(file: number, turn: () => Promise<void>) {
    this.#file = file;
    this.#turn = turn;
  }

  async stat(): Promise<EntryFacts> {
    return fs.fstatSync(this.#file);
  }

  async read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesRead: number; readonly buffer: Buffer }> {
    await this.#turn();
    return { bytesRead: fs.readSync(this.#file, buffer, offset, length, position), buffer };
  }

  async readFile(): Promise<Buffer> {
    return fs.readFileSync(this.#file);
  }

  async close(): Promise<void> {
    fs.closeSync(this.#file);
  }
}
