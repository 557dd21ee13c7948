/** Bytes that are reserved when the second chunk arrives. */
const firstRoomBytes = 16 * 1024;

/**
 * Collects the chunks of a body in one piece of memory. A list of chunks would cost some 100 bytes for each, and a
 * sender may send single bytes.
 */
export class ByteCollector {
  readonly #limitBytes: number;
  #memory: Buffer = Buffer.alloc(0);
  #length = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** Adds a chunk. Returns false, and adds nothing, if the limit would be exceeded. */
  add(chunk: Buffer): boolean {
    const length = this.#length + chunk.length;
    if (length > this.#limitBytes) {
      return false;
    }
    if (this.#length === 0) {
      // Most bodies are one chunk: that one is not copied.
      this.#memory = chunk;
    } else {
      this.#makeRoom(length);
      chunk.copy(this.#memory, this.#length);
    }
    this.#length = length;
    return true;
  }

  /** The bytes so far. */
  bytes(): Buffer {
    return this.#memory.subarray(0, this.#length);
  }

  #makeRoom(length: number): void {
    if (length <= this.#memory.length) {
      return;
    }
    const doubled = Math.min(this.#limitBytes, Math.max(firstRoomBytes, 2 * this.#memory.length));
    const larger = Buffer.allocUnsafe(Math.max(length, doubled));
    this.bytes().copy(larger);
    this.#memory = larger;
  }
}
