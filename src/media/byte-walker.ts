/** What a walk over a format wants next: bytes to read, bytes to skip, or a byte of this value to skip to. */
export type Want = { take: number } | { skip: number } | { find: number };

/** Reads a format as if all its bytes were there; each value that it yields requests some of them. */
export type Walk<T = void> = Generator<Want, T, Buffer>;

/** Passes chunks to a walk over a format, which requests bytes as if it had them all. */
export class ByteWalker {
  readonly #walk: Walk;
  #want: Want | undefined;
  /** Bytes that are missing for the current request. */
  #due = 0;
  #taken: Buffer[] = [];
  /** Bytes that followed after the walk had ended. */
  extra = 0;

  constructor(walk: Walk) {
    this.#walk = walk;
    this.#next(Buffer.alloc(0));
  }

  get ended(): boolean {
    return this.#want === undefined;
  }

  /** Whether the walk is between two parts of the format: it has requested bytes and received none of them. */
  get atBoundary(): boolean {
    return this.#want !== undefined && "take" in this.#want && this.#due === this.#want.take;
  }

  update(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let at = 0;
    while (at < bytes.length) {
      if (this.#want === undefined) {
        this.extra += bytes.length - at;
        return;
      }
      if ("find" in this.#want) {
        const found = bytes.indexOf(this.#want.find, at);
        if (found < 0) {
          return;
        }
        at = found + 1;
        this.#next(Buffer.alloc(0));
        continue;
      }
      const step = Math.min(this.#due, bytes.length - at);
      if ("take" in this.#want) {
        this.#taken.push(Buffer.from(bytes.subarray(at, at + step)));
      }
      at += step;
      this.#due -= step;
      if (this.#due === 0) {
        this.#next(Buffer.concat(this.#taken));
      }
    }
  }

  #next(bytes: Buffer): void {
    let given = bytes;
    do {
      this.#taken = [];
      const { done, value } = this.#walk.next(given);
      this.#want = done === true ? undefined : value;
      this.#due = this.#want === undefined || "find" in this.#want ? 0 : dueOf(this.#want);
      given = Buffer.alloc(0);
    } while (this.#want !== undefined && "skip" in this.#want && this.#due === 0);
  }
}

function dueOf(want: { take: number } | { skip: number }): number {
  return "take" in want ? want.take : want.skip;
}
