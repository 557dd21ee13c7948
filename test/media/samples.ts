/** Small whole files of each format, and the parts to build others from. */

export const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

export const webp = Buffer.from("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==", "base64");

/** One pixel, 24 bits. */
export const bmp = ((): Buffer => {
  const bytes = Buffer.alloc(58);
  bytes.write("BM", "latin1");
  bytes.writeUInt32LE(58, 2);
  bytes.writeUInt32LE(54, 10);
  bytes.writeUInt32LE(40, 14);
  bytes.writeInt32LE(1, 18);
  bytes.writeInt32LE(1, 22);
  bytes.writeUInt16LE(1, 26);
  bytes.writeUInt16LE(24, 28);
  return bytes;
})();

function segment(mark: number, body: Buffer): Buffer {
  const head = Buffer.from([0xff, mark, 0, 0]);
  head.writeUInt16BE(body.length + 2, 2);
  return Buffer.concat([head, body]);
}

/** The shape of a JPEG: segments, picture data with stuffed and restart marks, end mark. */
function jpegOf(header: Buffer): Buffer {
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    header,
    segment(0xdb, Buffer.alloc(65, 1)),
    Buffer.from([0xff]),
    segment(0xc0, Buffer.from([8, 0, 1, 0, 1, 1, 1, 0x11, 0])),
    segment(0xda, Buffer.from([1, 1, 0, 0, 63, 0])),
    Buffer.from([0x12, 0xff, 0x00, 0x34, 0xff, 0xd0, 0x56, 0xff, 0x00, 0x78, 0xff, 0xd9]),
  ]);
}

export const jpeg = jpegOf(segment(0xe0, Buffer.from("JFIF\0\x01\x01\0\0\x01\0\x01\0\0", "latin1")));

/** With a preview in its header, which has an end mark of its own. */
export const jpegWithPreview = jpegOf(segment(0xe1, Buffer.concat([Buffer.from("Exif\0\0"), jpeg])));

export function box(type: string, body: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + body.length);
  head.write(type, 4, "latin1");
  return Buffer.concat([head, body]);
}

export function bigBox(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(16);
  head.writeUInt32BE(1);
  head.write(type, 4, "latin1");
  head.writeBigUInt64BE(BigInt(16 + body.length), 8);
  return Buffer.concat([head, body]);
}

export function ftyp(brand: string): Buffer {
  return box("ftyp", Buffer.concat([Buffer.from(brand, "latin1"), Buffer.alloc(4), Buffer.from("isom")]));
}

const pictures = Buffer.alloc(50, 7);

/** Index at the end, at the start, in fragments, and with a 64-bit size. */
export const mp4s = {
  "index last": Buffer.concat([ftyp("isom"), box("mdat", pictures), box("moov", Buffer.alloc(30))]),
  "index first": Buffer.concat([ftyp("mp42"), box("moov", Buffer.alloc(30)), box("mdat", pictures)]),
  "64-bit size": Buffer.concat([ftyp("avc1"), bigBox("mdat", pictures), box("moov", Buffer.alloc(30))]),
  fragments: Buffer.concat([
    box("styp", Buffer.from("msdh\0\0\0\0")),
    box("moof", Buffer.alloc(20)),
    box("mdat", pictures),
  ]),
  quicktime: Buffer.concat([ftyp("qt  "), box("wide"), box("mdat", pictures), box("moov", Buffer.alloc(8))]),
} as const;
