import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import type { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { phrase, ProblemError } from "../errors/interpolation.ts";
import { ContentCheck } from "./content-check.ts";
import { cannotSync } from "./disk.ts";
import { ReceivedBody } from "./received-body.ts";

/** The bytes of one write. While the thread pool writes them, the main thread receives and hashes the next batch. */
const batchBytes = 1024 * 1024;
/** What a chunk counts for in addition to its bytes, so that many chunks of single bytes cannot pile up either. */
const chunkBytes = 256;
/** A file is synced after each so many bytes, so that little is left to sync at its end. */
const syncEveryBytes = 64 * 1024 * 1024;
/**
 * If a sync takes longer than this, more of them would only delay the writing: the file is then synced at its end only.
 */
const slowSyncMs = 500;

/** What was written. */
export interface WrittenBody {
  readonly bytes: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
  readonly content: ContentCheck;
}

/**
 * Writes a body to an empty open file, and hashes and checks it at the same time. One batch is being written while the
 * next one is gathered; the body is paused while both are full, so that two batches are the most that is in memory,
 * whatever the size. The hashed memory is the one that is written, and nothing else writes to it.
 */
export class BodyWriter {
  readonly #body: Readable;
  readonly #file: FileHandle;
  readonly #hash = createHash("sha256");
  readonly #content = new ContentCheck();
  /** Rejects with the first error of a sync. */
  readonly #failure = Promise.withResolvers<never>();
  readonly #sync: EarlySync;
  #bytes = 0;
  #batch: Batch = { chunks: [], position: 0, weight: 0 };
  #writing = Promise.resolve();
  #isStopped = false;

  constructor(body: Readable, file: FileHandle) {
    this.#body = body;
    this.#file = file;
    this.#sync = new EarlySync(file, this.#failure.reject);
  }

  /**
   * Writes the whole body, once; its last bytes are not synced yet. Throws the error of the body, also while the disk
   * hangs, and the errors of the disk. The body is destroyed then.
   */
  async write(): Promise<WrittenBody> {
    const { promise: failure, reject: fail } = this.#failure;
    // A loop over the body (`for await`) would take a turn of the event loop, and garbage, for each chunk.
    this.#body.on("data", (chunk: unknown) => {
      if (chunk instanceof Uint8Array) {
        this.#take(chunk);
      } else {
        fail(new TypeError("The body of a download must be a stream of bytes."));
      }
    });
    // A body that was paused before would otherwise stay paused.
    this.#body.resume();
    try {
      await Promise.race([finished(this.#body, { writable: false }), failure]);
      await Promise.race([this.#flush(), failure]);
      await Promise.race([Promise.all([this.#writing, this.#sync.running]), failure]);
    } finally {
      this.#body.destroy();
    }
    return { bytes: this.#bytes, sha256: this.#hash.digest("hex"), content: this.#content };
  }

  /**
   * Stops writing, and waits until the disk has finished what it was given, so that the file can be used otherwise.
   */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.allSettled([this.#writing, this.#sync.running]);
  }

  #take(chunk: Uint8Array): void {
    this.#hash.update(chunk);
    this.#content.update(chunk);
    this.#batch.chunks.push(chunk);
    this.#batch.weight += chunk.byteLength + chunkBytes;
    this.#bytes += chunk.byteLength;
    if (this.#batch.weight >= batchBytes) {
      this.#body.pause();
      this.#flush().then(() => this.#body.resume(), this.#failure.reject);
    }
  }

  /** Writes the gathered chunks after those that are being written. */
  async #flush(): Promise<void> {
    await this.#writing;
    this.#sync.startIfDue(this.#batch.position);
    this.#writing = this.#writeBatch(this.#batch);
    this.#writing.catch(this.#failure.reject);
    this.#batch = { chunks: [], position: this.#bytes, weight: 0 };
  }

  /** Writes the chunks and frees their memory. */
  async #writeBatch({ chunks, position: start }: Batch): Promise<void> {
    let position = start;
    for (let left = chunks; left.length > 0 && !this.#isStopped;) {
      const { bytesWritten } = await this.#file.writev(left, position);
      if (bytesWritten === 0) {
        throw new ProblemError(phrase("diskTakesNothing"));
      }
      position += bytesWritten;
      left = afterBytes(left, bytesWritten);
    }
    if (this.#body instanceof ReceivedBody) {
      for (const chunk of chunks) {
        this.#body.release(chunk);
      }
    }
  }
}

/** Chunks that are written with one call. */
interface Batch {
  readonly chunks: Uint8Array[];
  /** Where in the file they begin. */
  readonly position: number;
  weight: number;
}

/** The chunks that a short write has not written. */
function afterBytes(chunks: Uint8Array[], bytesWritten: number): Uint8Array[] {
  let passed = 0;
  for (const [index, chunk] of chunks.entries()) {
    if (passed + chunk.byteLength > bytesWritten) {
      return [chunk.subarray(bytesWritten - passed), ...chunks.slice(index + 1)];
    }
    passed += chunk.byteLength;
  }
  return [];
}

/** Syncs a file while it is being written, one sync at a time. */
class EarlySync {
  readonly #file: FileHandle;
  readonly #onFailure: (error: unknown) => void;
  #dueAtBytes = syncEveryBytes;
  running = Promise.resolve();

  constructor(file: FileHandle, onFailure: (error: unknown) => void) {
    this.#file = file;
    this.#onFailure = onFailure;
  }

  startIfDue(writtenBytes: number): void {
    if (writtenBytes >= this.#dueAtBytes) {
      this.#dueAtBytes = Number.POSITIVE_INFINITY;
      this.running = this.#sync(writtenBytes).catch(this.#onFailure);
    }
  }

  async #sync(writtenBytes: number): Promise<void> {
    const startedAt = performance.now();
    try {
      await this.#file.datasync();
    } catch (error) {
      // Another sync would not report the failure again: systems report lost bytes only once.
      if (!cannotSync(error)) {
        throw error;
      }
    }
    if (performance.now() - startedAt < slowSyncMs) {
      this.#dueAtBytes = writtenBytes + syncEveryBytes;
    }
  }
}
