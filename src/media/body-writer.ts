import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import type { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { phrase, ProblemError } from "../errors/interpolation.ts";
import { ContentCheck } from "./content-check.ts";
import { cannotSync } from "./disk.ts";
import { ReceivedBody } from "./received-body.ts";

/** As much is given to the thread pool at once, while the main thread receives and hashes the next such batch. */
const batchBytes = 1024 * 1024;
/** What a chunk costs beside its bytes, so that a drip of single bytes cannot pile up either. */
const chunkBytes = 256;
/** A file is synced whenever so much more is written, so that little is left to wait for at its end. */
const syncEveryBytes = 64 * 1024 * 1024;
/** On a disk that takes longer for one sync, others would only keep it from writing: the file is then synced at its end alone. */
const slowSyncMs = 500;

/** What was written. */
export interface WrittenBody {
  readonly bytes: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
  readonly content: ContentCheck;
}

/**
 * Writes a body to an empty open file, hashing and looking at it on the way. One batch is on its way to the disk while the
 * next one is gathered; the body waits while both are full, so that memory stays at two batches, whatever its size. What
 * is hashed is the very memory that is written, and nobody else writes to that.
 */
export class BodyWriter {
  readonly #body: Readable;
  readonly #file: FileHandle;
  readonly #hash = createHash("sha256");
  readonly #content = new ContentCheck();
  /** Rejects with what the disk says. */
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
   * Writes the whole body, once; its last bytes are not synced yet. Throws what the body fails with, also while the disk
   * hangs, and what the disk says. The body is destroyed then.
   */
  async write(): Promise<WrittenBody> {
    const { promise: failure, reject: fail } = this.#failure;
    // A loop over the body (for await) would take a turn, and garbage, for each chunk.
    this.#body.on("data", (chunk: unknown) => {
      if (chunk instanceof Uint8Array) {
        this.#take(chunk);
      } else {
        fail(new TypeError("The body of a download has to be one of bytes."));
      }
    });
    // One that was paused before would stay so.
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

  /** Writes no more, and waits until the disk has taken what it was given: from then on the file can be used otherwise. */
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

  /** Begins to write what was gathered, after what is being written. */
  async #flush(): Promise<void> {
    await this.#writing;
    this.#sync.startIfDue(this.#batch.position);
    this.#writing = this.#writeBatch(this.#batch);
    this.#writing.catch(this.#failure.reject);
    this.#batch = { chunks: [], position: this.#bytes, weight: 0 };
  }

  /** Writes the chunks and gives their memory back. */
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

/** What a short write has left of its chunks. */
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
      // Another sync would not repeat the failure: systems report lost bytes only once.
      if (!cannotSync(error)) {
        throw error;
      }
    }
    if (performance.now() - startedAt < slowSyncMs) {
      this.#dueAtBytes = writtenBytes + syncEveryBytes;
    }
  }
}
