import type { Socket } from "node:net";

/** The interim statuses except 101, which changes the protocol. */
const interim = /^HTTP\/1\.1 1(?!01)\d\d/;
const shortestBytes = "HTTP/1.1 100".length;
const beginning = "HTTP/1.1 1";
const one = 0x31;
const end = "\r\n\r\n";
/** An interim response that is longer is not treated as one. */
const longestHeadBytes = 4096;

/**
 * Removes interim responses (RFC 9110, 15.2) from the data of a connection. Clients have to ignore them, but undici
 * ends the connection on 100 Continue, and the response that follows would be lost. undici reads the socket with
 * `read`, so they are removed there, and only at the beginning of a response: requests have no body here, so a response
 * begins after each write.
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
      // The usual case: the status of the response begins with another digit.
      isStart = false;
      return chunk;
    }
    held = afterInterim(held.length === 0 ? chunk : Buffer.concat([held, chunk]));
    if (mayBeInterim(held) && held.length < longestHeadBytes) {
      // The rest of the interim response arrives with a later read.
      return null;
    }
    isStart = false;
    const bytes = held;
    held = nothing;
    return bytes;
  };
}

/** The data behind all complete interim responses. */
function afterInterim(bytes: Buffer): Buffer {
  let left = bytes;
  for (let ends = 0; ends >= 0 && interim.test(startOf(left));) {
    ends = left.indexOf(end);
    left = ends < 0 ? left : left.subarray(ends + end.length);
  }
  return left;
}

/** Whether the data begin, or may begin, an interim response that is not complete yet. */
function mayBeInterim(bytes: Buffer): boolean {
  const start = startOf(bytes);
  return start.length < shortestBytes
    ? start.startsWith(beginning) || beginning.startsWith(start)
    : interim.test(start);
}

function startOf(bytes: Buffer): string {
  return bytes.toString("latin1", 0, shortestBytes);
}
