import { Readable } from "node:stream";

/**
 * The body of a download as it comes over a connection. Node.js reads each 64 KB of it into new memory. Left to the garbage
 * collector, this memory makes it walk through all that Node-RED has in memory after every 30 to 60 MB. Whoever has written a chunk to
 * the disk therefore frees its memory at once.
 */
export class ReceivedBody extends Readable {
  /**
   * Frees the memory of a chunk, which is empty afterwards. A chunk that is only a part of what was read at once is left to the
   * garbage collector, and so is every chunk while somebody beside the one reader listens, who may keep it.
   */
  release({ buffer, byteLength }: Uint8Array): void {
    const isAllOfIt = buffer.byteLength === byteLength;
    if (isAllOfIt && buffer instanceof ArrayBuffer && this.listenerCount("data") <= 1) {
      buffer.transfer(0);
    }
  }
}
