/**
 * Writes a ZIP whose files are stored as they are. Each length and CRC-32 is known before its file is written, so every
 * program opens it, also one that reads it as a stream; and the bytes depend on nothing but the files: not on a version
 * of zlib, and not on this computer's time zone.
 */

/** A file of a ZIP. */
export interface ZipEntry {
  /** With slashes between folders. */
  readonly name: string;
  readonly bytes: number;
  readonly crc32: number;
  readonly modifiedAt: Date;
  readonly content: () => AsyncIterable<Uint8Array>;
}

interface WrittenEntry extends ZipEntry {
  readonly offset: number;
}

/** A number that is larger is in the ZIP64 part of its record, and this stands in its place. */
const most32 = 0xffff_ffff;
const most16 = 0xffff;
/** 2.0 knows folders, 4.5 knows ZIP64. */
const version20 = 20;
const version45 = 45;
/** Made on Unix, by version 6.3 of the format. */
const madeBy = (3 << 8) | 63;
/** The names are UTF-8. */
const utf8Names = 1 << 11;
/** A plain file that its owner may write and everybody may read. */
const plainFile = 0o100644 * 0x1_0000;

/** Writes the files in their order. What a file's content yields has to be of the length that its entry names. */
export async function* writeZip(entries: readonly ZipEntry[]): AsyncGenerator<Uint8Array> {
  const written: WrittenEntry[] = [];
  let offset = 0;
  for (const entry of entries) {
    const header = localHeader(entry);
    yield header;
    yield* entry.content();
    written.push({ ...entry, offset });
    offset += header.length + entry.bytes;
  }
  let directoryBytes = 0;
  for (const entry of written) {
    const record = directoryRecord(entry);
    yield record;
    directoryBytes += record.length;
  }
  yield endOfDirectory(written.length, directoryBytes, offset);
}

/** The length of the whole ZIP. */
export function zipBytes(entries: readonly ZipEntry[]): number {
  let offset = 0;
  let directoryBytes = 0;
  for (const entry of entries) {
    directoryBytes += directoryRecord({ ...entry, offset }).length;
    offset += localHeader(entry).length + entry.bytes;
  }
  return offset + directoryBytes + endOfDirectory(entries.length, directoryBytes, offset).length;
}

function localHeader(entry: ZipEntry): Buffer {
  const { name, bytes } = entry;
  const isLarge = bytes >= most32;
  const path = Buffer.from(name);
  const extra = Buffer.concat([timeField(entry), zip64Field(isLarge ? [bytes, bytes] : [])]);
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x0403_4b50, 0);
  header.writeUInt16LE(isLarge ? version45 : version20, 4);
  writeFacts(header, 6, entry);
  header.writeUInt16LE(path.length, 26);
  header.writeUInt16LE(extra.length, 28);
  return Buffer.concat([header, path, extra]);
}

function directoryRecord(entry: WrittenEntry): Buffer {
  const { name, bytes, offset } = entry;
  const path = Buffer.from(name);
  const large = [bytes, bytes, offset].filter((value) => value >= most32);
  const extra = Buffer.concat([timeField(entry), zip64Field(large)]);
  const record = Buffer.alloc(46);
  record.writeUInt32LE(0x0201_4b50, 0);
  record.writeUInt16LE(madeBy, 4);
  record.writeUInt16LE(large.length > 0 ? version45 : version20, 6);
  writeFacts(record, 8, entry);
  record.writeUInt16LE(path.length, 28);
  record.writeUInt16LE(extra.length, 30);
  record.writeUInt32LE(plainFile, 38);
  record.writeUInt32LE(Math.min(offset, most32), 42);
  return Buffer.concat([record, path, extra]);
}

/** The part that a local header and a record of the directory have in common, with the method 0: stored. */
function writeFacts(target: Buffer, at: number, { bytes, crc32, modifiedAt }: ZipEntry): void {
  const { date, time } = dosTime(modifiedAt);
  target.writeUInt16LE(utf8Names, at);
  target.writeUInt16LE(time, at + 4);
  target.writeUInt16LE(date, at + 6);
  target.writeUInt32LE(crc32, at + 8);
  target.writeUInt32LE(Math.min(bytes, most32), at + 12);
  target.writeUInt32LE(Math.min(bytes, most32), at + 16);
}

function zip64Field(values: readonly number[]): Buffer {
  if (values.length === 0) {
    return Buffer.alloc(0);
  }
  const extra = Buffer.alloc(4 + values.length * 8);
  extra.writeUInt16LE(1, 0);
  extra.writeUInt16LE(values.length * 8, 2);
  values.forEach((value, place) => extra.writeBigUInt64LE(BigInt(value), 4 + place * 8));
  return extra;
}

/** The time in UTC ("UT"), which most programs prefer to the DOS time, whose zone nobody knows. */
function timeField({ modifiedAt }: ZipEntry): Buffer {
  const extra = Buffer.alloc(9);
  extra.write("UT", 0);
  extra.writeUInt16LE(5, 2);
  extra.writeUInt8(1, 4);
  const seconds = Math.floor(modifiedAt.getTime() / 1_000);
  extra.writeInt32LE(Math.min(Math.max(seconds, 0), 0x7fff_ffff), 5);
  return extra;
}

/** The time in the form of DOS, which knows the years 1980 to 2107. Written in UTC: the ZIP has to be the same everywhere. */
function dosTime(at: Date): { readonly date: number; readonly time: number } {
  const ms = Math.min(Math.max(at.getTime(), Date.UTC(1980, 0, 1)), Date.UTC(2107, 11, 31, 23, 59, 58));
  const utc = new Date(ms);
  return {
    date: ((utc.getUTCFullYear() - 1980) << 9) | ((utc.getUTCMonth() + 1) << 5) | utc.getUTCDate(),
    time: (utc.getUTCHours() << 11) | (utc.getUTCMinutes() << 5) | (utc.getUTCSeconds() >> 1),
  };
}

function endOfDirectory(count: number, directoryBytes: number, offset: number): Buffer {
  const isLarge = count >= most16 || directoryBytes >= most32 || offset >= most32;
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x0605_4b50, 0);
  end.writeUInt16LE(Math.min(count, most16), 8);
  end.writeUInt16LE(Math.min(count, most16), 10);
  end.writeUInt32LE(Math.min(directoryBytes, most32), 12);
  end.writeUInt32LE(Math.min(offset, most32), 16);
  return isLarge ? Buffer.concat([zip64End(count, directoryBytes, offset), end]) : end;
}

function zip64End(count: number, directoryBytes: number, offset: number): Buffer {
  const end = Buffer.alloc(76);
  end.writeUInt32LE(0x0606_4b50, 0);
  // The length of this record behind this field.
  end.writeBigUInt64LE(44n, 4);
  end.writeUInt16LE(madeBy, 12);
  end.writeUInt16LE(version45, 14);
  end.writeBigUInt64LE(BigInt(count), 24);
  end.writeBigUInt64LE(BigInt(count), 32);
  end.writeBigUInt64LE(BigInt(directoryBytes), 40);
  end.writeBigUInt64LE(BigInt(offset), 48);
  // Where that record begins, on the only disk.
  end.writeUInt32LE(0x0706_4b50, 56);
  end.writeBigUInt64LE(BigInt(offset + directoryBytes), 64);
  end.writeUInt32LE(1, 72);
  return end;
}
