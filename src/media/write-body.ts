import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import type { Readable } from "node:stream";
import { phrase, ProblemError } from "../errors/interpolation.ts";
import { ContentCheck } from "./content-check.ts";
import { cannotSync } from "./disk.ts";
import { ReceivedBody } from "./received-body.ts";

/** As much is given to the thread pool at once, while the main thread receives and hashes the next such batch. */
const batchBytes = 2 * 1024 * 1024;
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
 * is hashed is the very memory that is written, and nobody else writes to that. The last bytes are not synced yet.
 *
 * Throws what the body fails with, also while the disk hangs, and what the disk says. The body is destroyed then.
 */
export async function writeBody(body: Readable, file: FileHandle): Promise<WrittenBody> {
  const hash = createHash("sha256");
  const content = new ContentCheck();
  const failed = Promise.withResolvers<never>();
  // Most failures end the loop below; this one is for a body, or a sync, that fails while the disk is waited for.
  failed.promise.catch(() => undefined);
  body.once("error", failed.reject);
  const sync = new EarlySync(file, failed.reject);
  let bytes = 0;
  let batch = new Batch(0);
  let writing = Promise.resolve();
  const flush = async (): Promise<void> => {
    await Promise.race([writing, failed.promise]);
    sync.startIfDue(batch.position);
    writing = batch.writeTo(file, body);
    // It is awaited before the next one; should the body fail first, nobody does.
    writing.catch(() => undefined);
    batch = new Batch(bytes);
  };
  for await (const chunk of body) {
    const piece = bytesOf(chunk);
    hash.update(piece);
    content.update(piece);
    batch.add(piece);
    bytes += piece.byteLength;
    if (batch.weight >= batchBytes) {
      await flush();
    }
  }
  await flush();
  await Promise.race([Promise.all([writing, sync.running]), failed.promise]);
  return { bytes, sha256: hash.digest("hex"), content };
}

function bytesOf(chunk: unknown): Uint8Array {
  if (!(chunk instanceof Uint8Array)) {
    throw new TypeError("The body of a download has to be one of bytes.");
  }
  return chunk;
}

/** Chunks that are written with one call. */
class Batch {
  readonly #chunks: Uint8Array[] = [];
  readonly position: number;
  weight = 0;

  constructor(position: number) {
    this.position = position;
  }

  add(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.weight += chunk.byteLength + chunkBytes;
  }

  /** Writes the chunks and gives their memory back. */
  async writeTo(file: FileHandle, body: Readable): Promise<void> {
    let { position } = this;
    for (let left = this.#chunks; left.length > 0;) {
      const { bytesWritten } = await file.writev(left, position);
      if (bytesWritten === 0) {
        throw new ProblemError(phrase("diskTakesNothing"));
      }
      position += bytesWritten;
      left = afterBytes(left, bytesWritten);
    }
    if (body instanceof ReceivedBody) {
      for (const chunk of this.#chunks) {
        body.release(chunk);
      }
    }
  }
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
