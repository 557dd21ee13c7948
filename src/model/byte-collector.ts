/** Room that the second chunk makes, in bytes. */
const firstRoomBytes = 16 * 1024;

/**
 * Collects a body that comes in chunks into one piece of memory. A list of the chunks would cost some 100 bytes for each,
 * and a sender may well send a byte at a time.
 */
export class ByteCollector {
  readonly #limitBytes: number;
  #memory: Buffer = Buffer.alloc(0);
  #length = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** False, and nothing is taken, where it would be more than the limit. */
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

  /** What has come so far. */
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
