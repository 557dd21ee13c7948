import type { Readable } from "node:stream";
import { isDimensionerError } from "../../errors/dimensioner-error.ts";
import { ProblemError, phrase } from "../../errors/interpolation.ts";
import type { ReadFile } from "../archive-disk.ts";
import type { ObjectHead, Objects, OpenedObject } from "../s3/bucket.ts";

/** The first byte and the last one that are read. */
interface Part {
  readonly first?: number;
  readonly last?: number;
}

/** How often in a row a connection may break before as much as this has arrived. */
const mostTries = 5;
const leastProgressBytes = 65_536;

/**
 * An object that is read like a file, or a part of it. What is read from the beginning to the end comes with one request; after
 * a broken connection the rest is requested, if the object is still the same.
 */
export class BucketFile implements ReadFile {
  readonly #bucket: Objects;
  readonly #key: string;
  readonly #opened: OpenedObject;
  /** The last byte that is read; undefined: that of the object. */
  readonly #last: number | undefined;
  #body: Readable;
  #blocks: AsyncIterator<Buffer, unknown>;
  #position: number;
  /** How often a connection has broken since the object had got to this position. */
  #broken = 0;
  #brokenAt: number;
  #rest: Buffer = Buffer.alloc(0);
  #isClosed = false;

  /** `opened` is the object from the first byte to the last one of the part. */
  constructor(bucket: Objects, key: string, opened: OpenedObject, { first = 0, last }: Part = {}) {
    this.#bucket = bucket;
    this.#key = key;
    this.#opened = opened;
    this.#last = last;
    this.#position = first;
    this.#brokenAt = first;
    this.#body = opened.body;
    this.#blocks = blocksOf(opened.body);
  }

  /** Opens a part of an object, if it is still the same. Rejects with ERR_STORE. */
  static async openPart(
    bucket: Objects,
    key: string,
    { etag }: Pick<ObjectHead, "etag">,
    part: Required<Part>,
  ): Promise<BucketFile> {
    const opened = await bucket.read(key, part.first, etag, part.last);
    if (opened === undefined) {
      throw replaced(bucket);
    }
    return new BucketFile(bucket, key, opened, part);
  }

  stat(): Promise<{ readonly size: number; isFile(): boolean }> {
    return Promise.resolve({ size: this.#opened.bytes, isFile: () => true });
  }

  async read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ bytesRead: number; buffer: Buffer }> {
    let bytesRead = 0;
    if (position < this.#opened.bytes && position !== this.#position) {
      await this.#reopen(position);
    }
    while (bytesRead < length && this.#position < this.#opened.bytes && position < this.#opened.bytes) {
      if (this.#rest.length === 0) {
        this.#rest = await this.#next();
      }
      const taken = this.#rest.copy(buffer, offset + bytesRead, 0, length - bytesRead);
      this.#rest = this.#rest.subarray(taken);
      this.#position += taken;
      bytesRead += taken;
    }
    return { bytesRead, buffer };
  }

  async readFile(): Promise<Buffer> {
    const whole = Buffer.alloc(this.#opened.bytes);
    const { bytesRead } = await this.read(whole, 0, whole.length, 0);
    return whole.subarray(0, bytesRead);
  }

  /** Ends a request that runs, also while it is waited for. */
  close(): Promise<void> {
    this.#isClosed = true;
    this.#body.destroy();
    return Promise.resolve();
  }

  /** The next bytes; never empty. */
  async #next(): Promise<Buffer> {
    for (;;) {
      try {
        const next: IteratorResult<Buffer, unknown> = await this.#blocks.next();
        if (next.done !== true && next.value.length > 0) {
          return next.value;
        }
        if (next.done === true) {
          throw new ProblemError(phrase("bucketCutShort"));
        }
      } catch (error) {
        if (Math.abs(this.#position - this.#brokenAt) >= leastProgressBytes) {
          this.#broken = 0;
          this.#brokenAt = this.#position;
        }
        this.#broken += 1;
        if (this.#isClosed || isDimensionerError(error) || this.#broken === mostTries) {
          throw this.#bucket.explain("read", error);
        }
        await this.#bucket.pauseAfter(this.#broken);
        await this.#reopen(this.#position);
      }
    }
  }

  async #reopen(position: number): Promise<void> {
    this.#body.destroy();
    const opened = await this.#bucket.read(this.#key, position, this.#opened.etag, this.#last);
    if (opened === undefined) {
      throw replaced(this.#bucket);
    }
    this.#body = opened.body;
    this.#blocks = blocksOf(opened.body);
    if (this.#isClosed) {
      this.#body.destroy();
    }
    this.#position = position;
    this.#rest = Buffer.alloc(0);
  }
}

function replaced(bucket: Objects): unknown {
  return bucket.explain("read", new ProblemError(phrase("bucketReplaced")));
}

function blocksOf(body: Readable): AsyncIterator<Buffer, unknown> {
  // A destroyed stream reports an error to nobody, which would end the process.
  body.on("error", () => undefined);
  const blocks: AsyncIterable<Buffer, unknown> = body;
  return blocks[Symbol.asyncIterator]();
}
