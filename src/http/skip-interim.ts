import type { Socket } from "node:net";

/** 101 alone changes what follows. */
const interim = /^HTTP\/1\.1 1(?!01)\d\d/;
const shortestBytes = "HTTP/1.1 100".length;
const beginning = "HTTP/1.1 1";
const one = 0x31;
const end = "\r\n\r\n";
/** A server that sends more than this without an end to it means something else. */
const longestHeadBytes = 4096;

/**
 * Takes interim responses (RFC 9110, 15.2), which nobody has asked for, out of what comes over a connection. Clients have to
 * pass over them; undici ends the connection on 100 Continue, and the answer that follows would be lost. It reads by
 * `read`, so the bytes are taken out there, and only at the beginning of an answer: requests have no body here, so an
 * answer begins after each write.
 */
export function skipInterim(socket: Socket): void {
  const read = socket.read.bind(socket);
  const nothing = Buffer.alloc(0);
  let written = -1;
  let isStart = false;
  let held: Buffer = nothing;
  socket.read = (size?: number): unknown => {
    if (socket.bytesWritten !== written) {
      written = socket.bytesWritten;
      isStart = true;
    }
    const chunk: unknown = read(size);
    if (!isStart || !Buffer.isBuffer(chunk)) {
      return chunk;
    }
    if (held.length === 0 && chunk.length >= shortestBytes && chunk[beginning.length - 1] !== one) {
      // Nearly every answer: its status begins with another digit.
      isStart = false;
      return chunk;
    }
    held = afterInterim(held.length === 0 ? chunk : Buffer.concat([held, chunk]));
    if (mayBeInterim(held) && held.length < longestHeadBytes) {
      // The rest of it comes with the next read.
      return null;
    }
    isStart = false;
    const bytes = held;
    held = nothing;
    return bytes;
  };
}

/** What follows the interim responses that are whole. */
function afterInterim(bytes: Buffer): Buffer {
  let left = bytes;
  for (let ends = 0; ends >= 0 && interim.test(startOf(left));) {
    ends = left.indexOf(end);
    left = ends < 0 ? left : left.subarray(ends + end.length);
  }
  return left;
}

/** Whether these bytes begin, or could begin, an interim response of which the end is missing. */
function mayBeInterim(bytes: Buffer): boolean {
  const start = startOf(bytes);
  return start.length < shortestBytes
    ? start.startsWith(beginning) || beginning.startsWith(start)
    : interim.test(start);
}

function startOf(bytes: Buffer): string {
  return bytes.toString("latin1", 0, shortestBytes);
}
