import type { FileHandle } from "node:fs/promises";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { phrase } from "../../errors/interpolation.ts";
import { fileError, systemCode } from "../../media/disk.ts";
import { asFileError, diskFacts, writeWhole, type ArchiveDisk } from "../archive-disk.ts";
import { replaceWith, replay, type Emit, type OnRecord } from "./journal-file.ts";
import { decodeLine, encodeLine } from "./journal-lines.ts";
import { decodeRecord, type JournalRecord } from "../packages/records.ts";

interface Entry {
  readonly line: Buffer;
  readonly isDurable: boolean;
  readonly resolve: (offset: number) => void;
  readonly reject: (error: DimensionerError) => void;
}

export interface JournalOptions {
  readonly disk: ArchiveDisk;
  readonly onRecord: OnRecord;
  /** Asked before each write; throws when the root is no longer ours. */
  readonly guard: () => Promise<void>;
}

const currentHeader = { type: "journal", version: 1 } as const satisfies JournalRecord;
const longestArchivedBytes = 16 * 1024;

/**
 * The append-only file that remembers what was promised. What is committed is on the disk when the promise resolves;
 * many commits at once share one sync. After a failed write the file is cut back to its last good line first.
 */
export class Journal {
  readonly path: string;
  readonly #disk: ArchiveDisk;
  readonly #guard: () => Promise<void>;
  #file: FileHandle;
  /** Where the next line goes; all before it is good. */
  #size: number;
  /** After a failure: what stands behind `#size` is nothing, and the handle may be of a disk that is gone. */
  #isBroken = false;
  #queue: Entry[] = [];
  #pump: Promise<void> | undefined;
  #isClosed = false;
  /** Lines whose checksum did not fit when the journal was read, the torn last one not counted. */
  readonly damagedLines: number;

  private constructor(
    path: string,
    file: FileHandle,
    read: { size: number; damaged: number },
    { disk, guard }: JournalOptions,
  ) {
    this.path = path;
    this.#file = file;
    this.#size = read.size;
    this.damagedLines = read.damaged;
    this.#disk = disk;
    this.#guard = guard;
  }

  /** Reads the journal, or begins one, and cuts off a torn last line. */
  static async open(path: string, options: JournalOptions): Promise<Journal> {
    const { disk } = options;
    let file: FileHandle | undefined;
    try {
      try {
        file = await disk.open(path, "r+");
      } catch (error) {
        if (systemCode(error) !== "ENOENT") {
          throw error;
        }
        await replaceWith(path, disk, async (emit) => void (await emit(encodeLine(currentHeader))));
        file = await disk.open(path, "r+");
      }
      const read = await replay(file, path, options.onRecord);
      await file.truncate(read.size);
      return new Journal(path, file, read, options);
    } catch (error) {
      await file?.close().catch(() => undefined);
      throw asFileError(error, path);
    }
  }

  get size(): number {
    return this.#size;
  }

  /** Resolves with the line's offset once it is on the disk. Throws ERR_FILE; the line is not in the journal then. */
  commit(record: JournalRecord): Promise<number> {
    return this.#add(record, true);
  }

  /** Resolves once the line is written. It is synced with the next commit; a failed write is made up for then. */
  note(record: JournalRecord): Promise<number> {
    return this.#add(record, false);
  }

  #add(record: JournalRecord, isDurable: boolean): Promise<number> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) {
        if (isDurable) {
          reject(new DimensionerError("cancelledClose", diskFacts));
        }
        return;
      }
      this.#queue.push({ line: encodeLine(record), isDurable, resolve, reject });
      this.#pump ??= this.#write();
    });
  }

  /** The record that stands at an offset; undefined where it can't be read. */
  async read(offset: number): Promise<JournalRecord | undefined> {
    const block = Buffer.alloc(longestArchivedBytes);
    const { bytesRead } = await this.#file.read(block, 0, block.length, offset);
    const end = block.subarray(0, bytesRead).indexOf("\n");
    return end < 0 ? undefined : decodeRecord(decodeLine(block.toString("utf8", 0, end)));
  }

  /**
   * Replaces the journal by one that `write` makes, in one step: a kill leaves the old one or the new one. `move` is
   * called with the new one in place.
   */
  async compact(write: (emit: Emit, file: FileHandle) => Promise<void>, move: () => void): Promise<void> {
    while (this.#pump !== undefined) {
      await this.#pump;
    }
    const work = (async () => {
      await this.#guard();
      this.#size = await replaceWith(this.path, this.#disk, async (emit) => {
        await emit(encodeLine(currentHeader));
        await write(emit, this.#file);
      });
      move();
      await this.#file.close().catch(() => undefined);
      this.#file = await this.#disk.open(this.path, "r+");
    })();
    // Nothing is written meanwhile: what is added waits for it.
    this.#pump = work.catch(() => {
      this.#isBroken = true;
    });
    await this.#pump;
    this.#pump = this.#queue.length > 0 ? this.#write() : undefined;
    await work.catch((error: unknown) => {
      throw asFileError(error, this.path);
    });
  }

  /** Writes what is waiting, as far as the disk takes it. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#pump;
    if (this.#queue.length > 0) {
      await this.#write();
    }
    await this.#file.datasync().catch(() => undefined);
    await this.#file.close().catch(() => undefined);
  }

  async #write(): Promise<void> {
    // Those of the same moment go together.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const batch = this.#queue;
      this.#queue = [];
      try {
        const isDurable = batch.some((entry) => entry.isDurable);
        let offset = await this.#append(Buffer.concat(batch.map(({ line }) => line)), isDurable);
        for (const entry of batch) {
          entry.resolve(offset);
          offset += entry.line.length;
        }
      } catch (error) {
        this.#isBroken = true;
        const failure = asFileError(error, this.path);
        for (const entry of batch) {
          if (entry.isDurable) {
            entry.reject(failure);
          }
        }
        const later = batch.filter((entry) => !entry.isDurable);
        const isStuck = this.#queue.every((entry) => !entry.isDurable);
        this.#queue = [...later, ...this.#queue];
        if (isStuck) {
          break;
        }
      }
    }
    this.#pump = undefined;
  }

  async #append(bytes: Buffer, isDurable: boolean): Promise<number> {
    await this.#guard();
    await this.#mend();
    const at = this.#size;
    await writeWhole(this.#file, bytes, at);
    if (isDurable) {
      await this.#file.datasync();
    }
    this.#size = at + bytes.length;
    return at;
  }

  /** Makes sure that the handle is the file under its name and that the file ends with the last good line. */
  async #mend(): Promise<void> {
    const [named, held] = await Promise.all([
      this.#disk.stat(this.path),
      this.#file.stat().catch(() => null),
    ]);
    if (held === null || named.ino !== held.ino || named.dev !== held.dev) {
      await this.#file.close().catch(() => undefined);
      this.#file = await this.#disk.open(this.path, "r+");
      this.#isBroken = true;
    }
    if (!this.#isBroken) {
      return;
    }
    const { size } = await this.#file.stat();
    if (size < this.#size) {
      throw fileError("fileOther", this.path, diskFacts, phrase("journalReplaced"));
    }
    await this.#file.truncate(this.#size);
    this.#isBroken = false;
  }
}
