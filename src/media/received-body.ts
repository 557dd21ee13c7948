import { Readable } from "node:stream";

/**
 * The body of a download as it arrives from a connection. Node.js reads each 64 KB of it into new memory. If the
 * garbage collector had to free it, it would walk through all of Node-RED's memory after every 30 to 60 MB. So whoever
 * has written a chunk to the disk frees its memory at once.
 */
export class ReceivedBody extends Readable {
  /**
   * Frees the memory of a chunk, which is empty afterwards. The garbage collector keeps its task for a chunk that is
   * only a part of what was read at once, and for all chunks while somebody besides the one reader listens, who may
   * keep them.
   */
  release({ buffer, byteLength }: Uint8Array): void {
    const isAllOfIt = buffer.byteLength === byteLength;
    if (isAllOfIt && buffer instanceof ArrayBuffer && this.listenerCount("data") <= 1) {
      buffer.transfer(0);
    }
  }
}
