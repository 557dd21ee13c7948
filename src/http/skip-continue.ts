import type { Socket } from "node:net";

const head = Buffer.from("HTTP/1.1 100");
const end = "\r\n\r\n";
/** A server that sends more than this without an end to it means something else. */
const longestHeadBytes = 4096;

/**
 * Takes an unasked-for 100 Continue out of what comes over a connection. RFC 9110 (15.2) has clients pass over it;
 * undici ends the connection instead, and the answer that follows would be lost. What undici reads at once it reads by
 * `read`, so that is where the bytes are taken out, at the beginning of an answer alone: requests here have no body, so
 * an answer begins after each write.
 */
export function skipContinue(socket: Socket): void {
  const read = socket.read.bind(socket);
  let written = socket.bytesWritten;
  let isStart = true;
  let held: Buffer = Buffer.alloc(0);
  socket.read = (size?: number): unknown => {
    if (socket.bytesWritten !== written) {
      written = socket.bytesWritten;
      isStart = true;
    }
    const chunk: unknown = read(size);
    if (!isStart || !Buffer.isBuffer(chunk)) {
      return chunk;
    }
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    while (held.subarray(0, head.length).equals(head)) {
      const ends = held.indexOf(end);
      if (ends < 0) {
        break;
      }
      held = held.subarray(ends + end.length);
    }
    const beginning = held.subarray(0, head.length);
    if (beginning.equals(head.subarray(0, beginning.length)) && held.length < longestHeadBytes) {
      // Perhaps a 100 that is not whole yet: the rest comes with the next read.
      return null;
    }
    isStart = false;
    const bytes = held;
    held = Buffer.alloc(0);
    return bytes;
  };
}
