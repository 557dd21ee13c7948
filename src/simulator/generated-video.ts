import { bytesBody, etagOf, filledBody, joinedBody, type Content } from "./content.ts";

const shortHeaderBytes = 8;
const longHeaderBytes = 16;
const largestShortBox = 2 ** 32 - 1;

/** The start of an MP4 `free` box, which players skip: its header and the first bytes of its payload. */
function freeBox(size: number, payload: Buffer): Buffer {
  const long = size > largestShortBox;
  const header = Buffer.alloc(long ? longHeaderBytes : shortHeaderBytes);
  header.writeUInt32BE(long ? 1 : size, 0);
  header.write("free", 4, "latin1");
  if (long) {
    header.writeBigUInt64BE(BigInt(size), shortHeaderBytes);
  }
  return Buffer.concat([header, payload]);
}

/**
 * A playable MP4 that ends in a `free` box with the id of the recording, so that no two recordings are the same file,
 * and with its reference. With `totalBytes` the box fills the file up to that length; the filling is generated while it
 * is sent.
 */
export function videoContent(mp4: Buffer, recorded: string, totalBytes: number | undefined): Content {
  const payload = Buffer.from(`recording ${recorded}`);
  const smallest = mp4.length + shortHeaderBytes + payload.length;
  const size = Math.max(smallest, totalBytes ?? 0);
  // All recordings share the video itself, so that many of them take little memory.
  const body = joinedBody([
    bytesBody(mp4),
    filledBody(freeBox(size - mp4.length, payload), size - mp4.length),
  ]);
  return { ...body, contentType: "video/mp4", etag: etagOf(mp4, payload, String(size)) };
}
