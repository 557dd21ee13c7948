import { localTime } from "./timers.ts";

/** Pictures are coded in blocks of this many points; a film of the catalogue is as wide as 20 of them. */
const blockSize = 16;
const blocksInRow = 20;

/** Five columns and seven rows of each character; a digit of base 32 is a row. */
export const glyphs: Readonly<Record<string, string>> = {
  "0": "ehjlphe",
  "1": "4c4444e",
  "2": "eh1248v",
  "3": "v2421he",
  "4": "26aiv22",
  "5": "vgu11he",
  "6": "68guhhe",
  "7": "v124888",
  "8": "ehhehhe",
  "9": "ehhf12c",
  "-": "000v000",
  ":": "0cc0cc0",
  R: "uhhukih",
  E: "vgguggv",
  C: "ehggghe",
  "●": "0evvve0",
};
const glyphColumns = 5;
/** A point of a glyph is two points wide and high, and two are between characters. */
const glyphWidth = 12;
const margins = { left: 4, top: 1 };

/** Brightness, and the two differences of color. */
type Color = readonly [number, number, number];
const background: Color = [36, 128, 128];
const white: Color = [225, 128, 128];
const red: Color = [90, 96, 224];

/** Uncompressed: the brightness of each point, then each color of each fourth one. */
function blocksOf(caption: string): Buffer[] {
  const half = blockSize / 2;
  const planes = { blue: blockSize ** 2, red: blockSize ** 2 + half ** 2 };
  const empty = Buffer.alloc(planes.red + half ** 2, background[1]).fill(background[0], 0, planes.blue);
  const blocks = Array.from({ length: blocksInRow }, () => Buffer.from(empty));
  for (const [position, character] of caption.split("").entries()) {
    const color = character === "●" ? red : white;
    for (const [row, points] of (glyphs[character] ?? "").split("").entries()) {
      for (let column = 0; column < glyphColumns; column += 1) {
        if (((parseInt(points, 32) >> (glyphColumns - 1 - column)) & 1) === 0) {
          continue;
        }
        const left = margins.left + position * glyphWidth + 2 * column;
        const [x, y] = [left % blockSize, margins.top + 2 * row];
        const block = blocks[Math.floor(left / blockSize)];
        block?.fill(color[0], y * blockSize + x, y * blockSize + x + 2);
        block?.fill(color[0], (y + 1) * blockSize + x, (y + 1) * blockSize + x + 2);
        block?.writeUInt8(color[1], planes.blue + row * half + x / 2);
        block?.writeUInt8(color[2], planes.red + row * half + x / 2);
      }
    }
  }
  return blocks;
}

const bitsOf = (bytes: Uint8Array): string =>
  [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");

function bytesOf(bits: string): Buffer {
  return Buffer.from((bits.match(/.{1,8}/g) ?? []).map((byte) => parseInt(byte.padEnd(8, "0"), 2)));
}

/** A number as an Exp-Golomb code. */
function golomb(value: number): string {
  const bits = (value + 1).toString(2);
  return "0".repeat(bits.length - 1) + bits;
}

function bitReader(bits: string): { readonly at: number; take(count: number): number; golomb(): number } {
  let at = 0;
  const take = (count: number): number => parseInt(bits.slice(at, (at += count)), 2);
  return {
    get at() {
      return at;
    },
    take,
    golomb() {
      const zeros = bits.indexOf("1", at) - at;
      at += zeros;
      return take(zeros + 1) - 1;
    },
  };
}

/** In a NAL unit two zeros are followed by a 3, where they would otherwise look like the start of the next one. */
function escaped(payload: Buffer): Buffer {
  const bytes: number[] = [];
  let zeros = 0;
  for (const byte of payload) {
    if (zeros === 2 && byte <= 3) {
      bytes.push(3);
      zeros = 0;
    }
    bytes.push(byte);
    zeros = byte === 0 ? zeros + 1 : 0;
  }
  return Buffer.from(bytes);
}

function unescaped(payload: Buffer): Buffer {
  return Buffer.from(payload.toString("latin1").replaceAll("\0\0\x03", "\0\0"), "latin1");
}

const otherFilm = "The film is not made as src/simulator/catalogue/parcels.ts says.";

/** How long frame numbers are, in bits (ITU-T H.264, 7.3.2.1.1), and the set of parameters with a picture that is one row of blocks higher. */
function higher(parameters: Buffer): { readonly frameNumberBits: number; readonly parameters: Buffer } {
  const before = 4;
  const reader = bitReader(bitsOf(parameters.subarray(before)));
  reader.golomb();
  const frameNumberBits = reader.golomb() + 4;
  const orderType = reader.golomb();
  reader.golomb();
  reader.take(1);
  const columns = reader.golomb() + 1;
  const rows = reader.golomb() + 1;
  // The code of an odd number of rows differs from that of one row less in its last bit only.
  if (orderType !== 2 || columns !== blocksInRow || rows % 2 !== 0) {
    throw new Error(otherFilm);
  }
  const bits = bitsOf(parameters);
  const last = 8 * before + reader.at - 1;
  return { frameNumberBits, parameters: bytesOf(`${bits.slice(0, last)}1${bits.slice(last + 1)}`) };
}

interface SliceHeader {
  readonly bits: string;
  /** Whether no block refers to another picture. */
  readonly isIntra: boolean;
}

/** As in ITU-T H.264, 7.3.3. */
function sliceHeader(slice: Buffer, frameNumberBits: number): SliceHeader {
  const bits = bitsOf(unescaped(slice.subarray(1, 25)));
  const reader = bitReader(bits);
  const isKeyPicture = ((slice[0] ?? 0) & 31) === 5;
  const firstBlock = reader.golomb();
  const isIntra = reader.golomb() % 5 === 2;
  reader.golomb();
  reader.take(frameNumberBits);
  if (isKeyPicture) {
    reader.golomb();
  }
  const changesReferences = isIntra ? 0 : reader.take(2);
  const changesMemory = reader.take(isKeyPicture ? 2 : 1);
  reader.golomb();
  if (firstBlock + changesReferences + changesMemory !== 0) {
    throw new Error(otherFilm);
  }
  const withoutDeblocking = 1;
  if (reader.golomb() !== withoutDeblocking) {
    reader.golomb();
    reader.golomb();
  }
  return { bits: bits.slice(0, reader.at), isIntra };
}

/** A slice of a caption above a slice that began the picture. Of what is shown already, nothing is coded. */
function captionSlice(
  below: Buffer,
  { bits, isIntra }: SliceHeader,
  blocks: Buffer[],
  shown: Buffer[],
): Buffer {
  const parts: Buffer[] = [];
  let due = bits;
  let skipped = 0;
  for (const [index, block] of blocks.entries()) {
    if (!isIntra && shown[index]?.equals(block) === true) {
      skipped += 1;
      continue;
    }
    // The numbers say: uncompressed (I_PCM in ITU-T H.264, tables 7-11 and 7-13).
    due += isIntra ? golomb(25) : golomb(skipped) + golomb(30);
    parts.push(bytesOf(due), block);
    due = "";
    skipped = 0;
  }
  parts.push(bytesOf(`${due}${skipped > 0 ? golomb(skipped) : ""}1`));
  return Buffer.concat([below.subarray(0, 1), escaped(Buffer.concat(parts))]);
}

/** The same slice, one row of blocks lower: the code of block 20 is that of block 0 with one byte before it. */
function lowered(slice: Buffer): Buffer {
  return Buffer.concat([slice.subarray(0, 1), Buffer.of(blocksInRow / 2), slice.subarray(1)]);
}

/** With its length before it. */
function unit(nal: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(nal.length);
  return Buffer.concat([length, nal]);
}

/** What these boxes have before the boxes in them. */
const fieldBytes: Readonly<Record<string, number>> = { stsd: 8, avc1: 78 };

/** Where the content of a box begins. */
function boxAt(mp4: Buffer, path: string): number {
  return path.split("/").reduce((from, type, depth, types) => {
    let at = from + (fieldBytes[types[depth - 1] ?? ""] ?? 0);
    while (mp4.toString("latin1", at + 4, at + 8) !== type) {
      at += mp4.readUInt32BE(at);
    }
    return at + 8;
  }, 0);
}

/** `● REC  2026-11-28 14:42:50`, by the clock of the device. */
function captionOf(at: Date): string {
  return `● REC  ${localTime(at).slice(0, 19).replace("T", " ")}`;
}

/**
 * A film of the catalogue with a row of blocks above its pictures, which says when it was recorded; the seconds count. It takes no
 * encoder, because each picture gets a slice of its own for that row, uncompressed where the caption changes.
 */
export function captionedFilm(film: Buffer, begins: Date): Buffer {
  const table = "moov/trak/mdia/minf/stbl";
  const entry = boxAt(film, `${table}/stsd/avc1`);
  const parametersAt = boxAt(film, `${table}/stsd/avc1/avcC`) + 8;
  const parametersEnd = parametersAt + film.readUInt16BE(parametersAt - 2);
  const sizes = boxAt(film, `${table}/stsz`) + 12;
  const msPerPicture =
    (1000 * film.readUInt32BE(boxAt(film, `${table}/stts`) + 12)) /
    film.readUInt32BE(boxAt(film, "moov/trak/mdia/mdhd") + 12);
  const { frameNumberBits, parameters } = higher(film.subarray(parametersAt, parametersEnd));

  const start = boxAt(film, "mdat");
  const chunks = boxAt(film, `${table}/stco`) + 4;
  // One chunk begins where it did, however long its pictures become.
  if (film.readUInt32BE(chunks) !== 1 || film.readUInt32BE(chunks + 4) !== start) {
    throw new Error(otherFilm);
  }
  const head = Buffer.from(film.subarray(0, start));
  const samples: Buffer[] = [];
  let from = start;
  let [caption, shown, blocks]: [string, Buffer[], Buffer[]] = ["", [], []];
  for (let picture = 0; picture < film.readUInt32BE(sizes - 4); picture += 1) {
    const size = film.readUInt32BE(sizes + 4 * picture);
    const slice = film.subarray(from + 4, from + size);
    const next = captionOf(new Date(begins.getTime() + picture * msPerPicture));
    shown = blocks;
    if (next !== caption) {
      [caption, blocks] = [next, blocksOf(next)];
    }
    const header = sliceHeader(slice, frameNumberBits);
    const sample = Buffer.concat([unit(captionSlice(slice, header, blocks, shown)), unit(lowered(slice))]);
    head.writeUInt32BE(sample.length, sizes + 4 * picture);
    samples.push(sample);
    from += size;
  }

  parameters.copy(head, parametersAt);
  for (const height of [entry + 26, boxAt(film, "moov/trak/tkhd") + 80]) {
    head.writeUInt16BE(head.readUInt16BE(height) + blockSize, height);
  }
  const captioned = Buffer.concat([head, ...samples]);
  captioned.writeUInt32BE(8 + captioned.length - start, start - 8);
  return captioned;
}
