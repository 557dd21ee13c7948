import { Socket, type OnReadOpts } from "node:net";

/** A JSON answer fits into the smallest, as a rule; a download fills one after the other, and they grow. */
const smallestBytes = 16 * 1024;
const largestBytes = 256 * 1024;
/** A read that leaves so much of a piece, as a part of it, leaves it to the next one. */
const worthKeeping = 1 / 4;

/**
 * What connections read into. Node.js takes new memory for every 64 KB that come, and the garbage collector has to find
 * all of it again, which for a long download takes more time than to receive it. Here a piece that its receiver has
 * given back is used again.
 */
export class ReadMemory {
  #pieceBytes = smallestBytes;
  #free: Uint8Array[] = [];
  /** What the last read has left of its piece, for the next one of the same connection, which follows at once. */
  #rest: Uint8Array | undefined;
  /** The pieces that nobody reads into any more, each with where it was filled up to. */
  readonly #full = new WeakMap<ArrayBufferLike, number>();

  /** For the options of a connection. */
  get onread(): OnReadOpts {
    const fill = (buffer: Uint8Array, bytes: number): Uint8Array => this.#fill(buffer, bytes);
    return {
      buffer: () => this.#take(),
      // Called as a method of its socket, which can be learnt in no other way.
      callback(this: unknown, bytes: number, buffer: Uint8Array): boolean {
        return this instanceof Socket && this.push(fill(buffer, bytes));
      },
    };
  }

  /**
   * Takes back a chunk that its receiver needs no more. As chunks come back in their order, a whole piece is free with
   * the last of its bytes. A chunk from elsewhere is left alone.
   */
  giveBack({ buffer, byteOffset, byteLength }: Uint8Array): void {
    if (this.#full.get(buffer) === byteOffset + byteLength) {
      this.#full.delete(buffer);
      if (buffer.byteLength >= this.#pieceBytes) {
        this.#free.push(new Uint8Array(buffer));
      }
    }
  }

  /** Lets go of what is free. */
  clear(): void {
    this.#free = [];
    this.#pieceBytes = smallestBytes;
  }

  #take(): Uint8Array {
    const rest = this.#rest;
    this.#rest = undefined;
    return rest ?? this.#free.pop() ?? Buffer.allocUnsafeSlow(this.#pieceBytes);
  }

  #fill(buffer: Uint8Array, bytes: number): Uint8Array {
    const left = buffer.subarray(bytes);
    if (left.length >= buffer.buffer.byteLength * worthKeeping) {
      this.#rest = left;
    } else {
      this.#full.set(buffer.buffer, buffer.byteOffset + bytes);
    }
    if (left.length === 0) {
      this.#pieceBytes = Math.max(this.#pieceBytes, Math.min(largestBytes, buffer.buffer.byteLength * 4));
    }
    return Buffer.from(buffer.buffer, buffer.byteOffset, bytes);
  }
}
