import { Socket, type OnReadOpts } from "node:net";

/** A JSON answer fits into the smallest, as a rule; a download fills one after the other, and they grow. */
const smallestBytes = 16 * 1024;
const largestBytes = 256 * 1024;
/** A read that leaves so much of a piece, as a part of it, leaves it to the next one. */
const worthKeeping = 1 / 4;

/** What is known of one piece of memory. */
interface Piece {
  /** How many chunks of it are with a receiver. */
  lent: number;
  /** Where it was filled up to, once nobody reads into it any more. */
  end: number | undefined;
  /** Whether its last chunk has come back. */
  isEndBack: boolean;
}

/**
 * What connections read into. Node.js takes new memory for every 64 KB that come, and the garbage collector has to find
 * all of it again, which for a long download takes more time than to receive it. Here a piece that its receivers have
 * given back is used again.
 *
 * A piece is filled by one connection, but what comes over that can belong to several answers, and each of their
 * receivers keeps its chunks as long as it likes. So a piece is free when its last chunk has come back, which says that
 * nothing of it waits in the socket, and none is with a receiver.
 */
export class ReadMemory {
  #pieceBytes = smallestBytes;
  #free: Uint8Array[] = [];
  /** What the last read has left of its piece, for the next one of the same connection, which follows at once. */
  #rest: Uint8Array | undefined;
  readonly #pieces = new WeakMap<ArrayBufferLike, Piece>();

  /** For the options of a connection. */
  get onread(): OnReadOpts {
    const fill = (buffer: Uint8Array, bytes: number): Uint8Array | undefined => this.#fill(buffer, bytes);
    const keep = (rest: Uint8Array | undefined): void => void (this.#rest = rest);
    return {
      buffer: () => this.#take(),
      // Called as a method of its socket, which can be learnt in no other way.
      callback(this: unknown, bytes: number, buffer: Uint8Array): boolean {
        const rest = fill(buffer, bytes);
        const goesOn =
          this instanceof Socket && this.push(Buffer.from(buffer.buffer, buffer.byteOffset, bytes));
        // Not before: who reads may open another connection at once, and that has to have a piece of its own.
        keep(rest);
        return goesOn;
      },
    };
  }

  /** Notes that a receiver has a chunk. One that is never given back keeps its piece from being used again. */
  lend({ buffer }: Uint8Array): void {
    this.#pieceOf(buffer).lent += 1;
  }

  /** Takes back a chunk that its receiver needs no more. A chunk from elsewhere is left alone. */
  giveBack({ buffer, byteOffset, byteLength }: Uint8Array): void {
    const piece = this.#pieces.get(buffer);
    if (piece === undefined) {
      return;
    }
    piece.lent -= 1;
    piece.isEndBack ||= piece.end === byteOffset + byteLength;
    if (piece.isEndBack && piece.lent === 0) {
      this.#pieces.delete(buffer);
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

  #pieceOf(buffer: ArrayBufferLike): Piece {
    let piece = this.#pieces.get(buffer);
    if (piece === undefined) {
      piece = { lent: 0, end: undefined, isEndBack: false };
      this.#pieces.set(buffer, piece);
    }
    return piece;
  }

  #take(): Uint8Array {
    const rest = this.#rest;
    this.#rest = undefined;
    return rest ?? this.#free.pop() ?? Buffer.allocUnsafeSlow(this.#pieceBytes);
  }

  /** Returns what is left of the piece, where that is worth keeping. */
  #fill(buffer: Uint8Array, bytes: number): Uint8Array | undefined {
    const left = buffer.subarray(bytes);
    if (left.length >= buffer.buffer.byteLength * worthKeeping) {
      return left;
    }
    this.#pieceOf(buffer.buffer).end = buffer.byteOffset + bytes;
    if (left.length === 0) {
      this.#pieceBytes = Math.max(this.#pieceBytes, Math.min(largestBytes, buffer.buffer.byteLength * 4));
    }
    return undefined;
  }
}
