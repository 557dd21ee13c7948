import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import type { DimensionerError } from "../errors/dimensioner-error.ts";
import { phrase, ProblemError } from "../errors/interpolation.ts";
import type { ByteSink } from "../model/download.ts";
import { ContentCheck } from "./content-check.ts";
import { cannotSync } from "./disk.ts";

/**
 * As much is given to the thread pool at once, while the main thread fills and hashes the next such batch. Smaller ones
 * leave the disk idle: their end is noticed only after the socket has been read, which takes as long as several writes.
 */
const batchBytes = 2 * 1024 * 1024;
/** So much waits for the disk at most; then the sender is told to wait until there is room for a batch. */
const pauseBytes = 2 * batchBytes;
const resumeBytes = batchBytes;
/** Syncing on the way leaves little to wait for at the end; on a slow disk it would only hold up the thread pool. */
const syncBytes = 64 * 1024 * 1024;
const slowSyncMs = 500;
/** What a chunk costs beside its bytes, so that a drip of single bytes cannot pile up either. */
const chunkBytes = 256;

/**
 * Writes what a download pushes to an open file, hashing and checking it on the way. Memory stays at what is buffered,
 * whatever the size of the file.
 */
export class FileSink implements ByteSink {
  onDrain: (() => void) | undefined;
  onError: ((error: DimensionerError) => void) | undefined;
  onChunkDone: ((chunk: Uint8Array) => void) | undefined;
  readonly #file: FileHandle;
  readonly #explain: (error: unknown) => DimensionerError;
  #hash = createHash("sha256");
  #content = new ContentCheck();
  #bytes = 0;
  #queue: Uint8Array[] = [];
  /** Weight of the queue, and of the queue with what the thread pool is writing. */
  #queued = 0;
  #buffered = 0;
  #written = 0;
  #paused = false;
  #ended = false;
  /** Restarts under way; until they are done nothing is written. */
  #restarts = 0;
  #restarted: Promise<void> | undefined;
  /** Where the next sync on the way is due. */
  #syncAt = syncBytes;
  #pump: Promise<void> | undefined;
  #failure: DimensionerError | undefined;

  /** `explain` turns what the disk says into the error that the download ends with. */
  constructor(file: FileHandle, explain: (error: unknown) => DimensionerError) {
    this.#file = file;
    this.#explain = explain;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get content(): ContentCheck {
    return this.#content;
  }

  /** What the disk said, where it failed. */
  get failure(): DimensionerError | undefined {
    return this.#failure;
  }

  write(chunk: Uint8Array): boolean {
    if (this.#failure !== undefined) {
      // Told again: a transport that was between two tries has not heard it.
      this.onError?.(this.#failure);
      return true;
    }
    if (this.#ended) {
      return true;
    }
    if (chunk.byteLength > 0) {
      this.#bytes += chunk.byteLength;
      this.#queue.push(chunk);
      this.#queued += weightOf(chunk);
      this.#buffered += weightOf(chunk);
      this.#startPump();
      this.#hash.update(chunk);
      this.#content.update(chunk);
    }
    this.#paused ||= this.#buffered >= pauseBytes;
    return !this.#paused;
  }

  /** What is written from the call on counts for the new beginning, also before the promise resolves. */
  async restart(): Promise<void> {
    if (this.#failure !== undefined) {
      return;
    }
    this.#buffered -= this.#queued;
    this.#queued = 0;
    this.#queue = [];
    this.#hash = createHash("sha256");
    this.#content = new ContentCheck();
    this.#bytes = 0;
    this.#restarts += 1;
    this.#restarted = this.#empty();
    await this.#restarted;
  }

  async #empty(): Promise<void> {
    await this.#pump;
    try {
      await this.#file.truncate(0);
    } catch (error) {
      this.fail(error);
    }
    this.#written = 0;
    this.#syncAt = syncBytes;
    this.#restarts -= 1;
    this.#startPump();
    if (this.#failure === undefined) {
      this.#resume();
    }
  }

  /** Waits until all bytes are with the system, and takes no more. Throws what the disk said. */
  async end(): Promise<void> {
    this.#ended = true;
    await this.#restarted;
    this.#startPump();
    await this.#pump;
    if (this.#failure !== undefined) {
      throw this.#failure;
    }
  }

  /** The hash of all bytes; to be asked for once, after `end`. */
  sha256(): string {
    return this.#hash.digest("hex");
  }

  #startPump(): void {
    if (this.#isBatchDue()) {
      this.#pump ??= this.#writeQueue();
    }
  }

  #isBatchDue(): boolean {
    if (this.#restarts > 0) {
      return false;
    }
    return this.#queued >= batchBytes || (this.#ended && this.#queue.length > 0);
  }

  /** Started with a batch due, so that it ends after `#pump` is set; no chunk slips in between look and end. */
  async #writeQueue(): Promise<void> {
    try {
      while (this.#isBatchDue()) {
        const weight = await this.#writeBatch();
        this.#buffered -= weight;
        if (this.#buffered <= resumeBytes) {
          this.#resume();
        }
        if (this.#written >= this.#syncAt) {
          void this.#syncOnTheWay();
        }
      }
    } catch (error) {
      this.fail(error);
    } finally {
      this.#pump = undefined;
    }
  }

  async #writeBatch(): Promise<number> {
    let count = 0;
    let weight = 0;
    for (const chunk of this.#queue) {
      if (weight >= batchBytes) {
        break;
      }
      weight += weightOf(chunk);
      count += 1;
    }
    const batch = this.#queue.splice(0, count);
    this.#queued -= weight;
    for (let left = batch; left.length > 0;) {
      const { bytesWritten } = await this.#file.writev(left, this.#written);
      if (bytesWritten === 0) {
        throw new ProblemError(phrase("diskTakesNothing"));
      }
      this.#written += bytesWritten;
      left = rest(left, bytesWritten);
    }
    for (const chunk of batch) {
      this.onChunkDone?.(chunk);
    }
    return weight;
  }

  /** Its failure counts: the system tells of lost bytes only once. */
  async #syncOnTheWay(): Promise<void> {
    this.#syncAt = Number.POSITIVE_INFINITY;
    const startedAtMs = performance.now();
    try {
      await this.#file.datasync();
    } catch (error) {
      if (!cannotSync(error)) {
        this.fail(error);
      }
    }
    if (performance.now() - startedAtMs < slowSyncMs) {
      this.#syncAt = this.#written + syncBytes;
    }
  }

  /** May call `write` at once: all state is settled before. */
  #resume(): void {
    if (!this.#paused || this.#restarts > 0 || this.#ended) {
      return;
    }
    this.#paused = false;
    this.onDrain?.();
  }

  /** Ends the download, with the first error that the disk gave. */
  fail(error: unknown): DimensionerError {
    if (this.#failure !== undefined) {
      return this.#failure;
    }
    this.#failure = this.#explain(error);
    this.#queue = [];
    this.#queued = 0;
    this.#buffered = 0;
    if (!this.#ended) {
      this.onError?.(this.#failure);
    }
    return this.#failure;
  }
}

function weightOf(chunk: Uint8Array): number {
  return chunk.byteLength + chunkBytes;
}

/** What a short write has left of a batch. */
function rest(batch: Uint8Array[], bytesWritten: number): Uint8Array[] {
  let passed = 0;
  for (const [index, chunk] of batch.entries()) {
    if (passed + chunk.byteLength > bytesWritten) {
      return [chunk.subarray(bytesWritten - passed), ...batch.slice(index + 1)];
    }
    passed += chunk.byteLength;
  }
  return [];
}
