import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import type { Readable } from "node:stream";
import { phrase, ProblemError } from "../errors/interpolation.ts";
import { ContentCheck } from "./content-check.ts";

/** As much is given to the thread pool at once, while the main thread receives and hashes the next such batch. */
const batchBytes = 2 * 1024 * 1024;
/** What a chunk costs beside its bytes, so that a drip of single bytes cannot pile up either. */
const chunkBytes = 256;

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
 *
 * Throws what the body fails with, also while the disk hangs, and what the disk says. The body is destroyed then.
 */
export async function writeBody(body: Readable, file: FileHandle): Promise<WrittenBody> {
  const hash = createHash("sha256");
  const content = new ContentCheck();
  const failed = Promise.withResolvers<never>();
  // Most failures end the loop below; this one is for a body that fails while the disk is waited for.
  failed.promise.catch(() => undefined);
  body.once("error", failed.reject);
  let bytes = 0;
  let batch = new Batch(0);
  let writing = Promise.resolve();
  const flush = async (): Promise<void> => {
    await Promise.race([writing, failed.promise]);
    writing = batch.writeTo(file);
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
  await writing;
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
  #chunks: Uint8Array[] = [];
  #position: number;
  weight = 0;

  constructor(position: number) {
    this.#position = position;
  }

  add(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.weight += chunk.byteLength + chunkBytes;
  }

  async writeTo(file: FileHandle): Promise<void> {
    while (this.#chunks.length > 0) {
      const { bytesWritten } = await file.writev(this.#chunks, this.#position);
      if (bytesWritten === 0) {
        throw new ProblemError(phrase("diskTakesNothing"));
      }
      this.#position += bytesWritten;
      this.#chunks = afterBytes(this.#chunks, bytesWritten);
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
