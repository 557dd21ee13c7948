import assert from "node:assert/strict";
import { inEnglish } from "../../src/errors/interpolation.ts";
import { type CheckedFormat, createFormatEnd } from "../../src/media/formats.ts";
import { bigBox, bmp, box, ftyp, jpeg, jpegWithPreview, mp4s, png, webp } from "./samples.ts";

const wholes: [name: string, format: CheckedFormat, bytes: Buffer][] = [
  ["JPEG", "jpeg", jpeg],
  ["JPEG with a preview", "jpeg", jpegWithPreview],
  ["PNG", "png", png],
  ["BMP", "bmp", bmp],
  ["WebP", "webp", webp],
  ...Object.entries(mp4s).map(([name, bytes]): [string, CheckedFormat, Buffer] => [
    `MP4, ${name}`,
    "mp4",
    bytes,
  ]),
];

function problemOf(format: CheckedFormat, ...chunks: Uint8Array[]): string | null {
  const end = createFormatEnd(format);
  for (const chunk of chunks) {
    end.update(chunk);
  }
  const problem = end.problem();
  return problem && inEnglish(problem);
}

describe("the end of a format", () => {
  for (const [name, format, bytes] of wholes) {
    it(`${name}: the whole is whole, in two chunks cut anywhere and in single bytes`, () => {
      for (let at = 0; at <= bytes.length; at += 1) {
        assert.equal(problemOf(format, bytes.subarray(0, at), bytes.subarray(at)), null, `cut at ${at}`);
      }
      assert.equal(problemOf(format, ...Array.from(bytes, (byte) => Uint8Array.of(byte))), null);
    });

    it(`${name}: cut short at any byte it is not whole`, () => {
      for (let length = 0; length < bytes.length; length += 1) {
        assert.notEqual(problemOf(format, bytes.subarray(0, length)), null, `${length} of ${bytes.length}`);
      }
    });

    it(`${name}: with something behind its end it is not whole`, () => {
      assert.notEqual(problemOf(format, bytes, Buffer.from("more")), null);
      assert.notEqual(problemOf(format, Buffer.concat([bytes, Buffer.from("m")])), null);
    });
  }

  it("takes a JPEG whose segments cannot be followed by its last two bytes", () => {
    const odd = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0, 1, 2, 3, 0xff, 0xd9]);
    assert.equal(problemOf("jpeg", odd), null);
    assert.notEqual(problemOf("jpeg", odd.subarray(0, -1)), null);
    assert.equal(problemOf("jpeg", Buffer.from([0xff, 0xd8, 1, 2, 0xff, 0xd9])), null);
  });

  const fine: Readonly<Record<string, readonly [CheckedFormat, Buffer, Buffer]>> = {
    "fill bytes": ["jpeg", Buffer.from([0xff, 0xd8]), Buffer.from([0xff])],
    "stuffed bytes": ["jpeg", jpeg.subarray(0, -2), Buffer.from([0xff, 0])],
    "empty segments": ["jpeg", Buffer.from([0xff, 0xd8]), Buffer.from([0xff, 0xe0, 0, 2])],
    "empty boxes": ["mp4", ftyp("isom"), box("free")],
    "empty chunks": ["png", png.subarray(0, 8), Buffer.alloc(12)],
  };
  for (const [what, [format, head, part]] of Object.entries(fine)) {
    it(`gives up a ${format} of nothing but ${what}, instead of looking at each`, () => {
      const before = process.cpuUsage();
      const body = Buffer.alloc(64 * 1024, part);
      const chunks = Array.from({ length: 480 }, () =>
        body.subarray(0, body.length - (body.length % part.length)),
      );
      assert.match(problemOf(format, head, ...chunks) ?? "", /does not show where it ends/);
      assert.ok(process.cpuUsage(before).user < 3_000_000, "30 MB in less than three seconds");
    });
  }

  it("gives up a file whose beginning is too fine, however much follows and however it is cut", () => {
    const bytes = Buffer.concat([png.subarray(0, 8), Buffer.alloc(12 * 6_500), Buffer.alloc(1_000_000, 7)]);
    const pieces = Array.from({ length: bytes.length / 1_000 }, (_, at) =>
      bytes.subarray(at * 1_000, (at + 1) * 1_000),
    );
    assert.match(problemOf("png", bytes) ?? "", /does not show where it ends/);
    assert.match(problemOf("png", ...pieces) ?? "", /does not show where it ends/);
  });

  it("follows a picture of noise, of which each 256th byte is an FF", () => {
    const noise = Buffer.alloc(3_000_000, Buffer.from([...Array(254).fill(7), 0xff, 0]));
    assert.equal(problemOf("jpeg", jpeg.subarray(0, -2), noise, jpeg.subarray(-2)), null);
  });

  it("takes a JPEG with a second picture behind the first only when that one ends too", () => {
    assert.equal(problemOf("jpeg", jpeg, jpeg), null);
    assert.notEqual(problemOf("jpeg", jpeg, jpeg.subarray(0, -5)), null);
  });

  it("does not trust a BMP that names no length", () => {
    const silent = Buffer.from(bmp);
    silent.writeUInt32LE(0, 2);
    assert.notEqual(problemOf("bmp", silent), null);
  });

  it("does not trust an MP4 whose last box runs to the end of the file", () => {
    const open = box("mdat", Buffer.alloc(9));
    open.writeUInt32BE(0);
    const problem = problemOf("mp4", ftyp("isom"), box("moov", Buffer.alloc(8)), open);
    assert.match(problem ?? "", /does not give its length/);
  });

  it("wants index and pictures in an MP4, and each fragment's pictures", () => {
    assert.match(problemOf("mp4", ftyp("isom"), box("mdat")) ?? "", /index/);
    assert.match(problemOf("mp4", ftyp("isom"), box("moov")) ?? "", /pictures/);
    assert.match(problemOf("mp4", mp4s.fragments, box("moof")) ?? "", /pictures/);
    assert.equal(problemOf("mp4", mp4s.fragments, mp4s.fragments), null);
    assert.equal(problemOf("mp4", mp4s["index first"], box("free")), null);
  });

  it("knows an MP4 without an index, however its recording was cut off", () => {
    const hasNoIndex = (...chunks: Uint8Array[]): boolean => {
      const end = createFormatEnd("mp4");
      chunks.forEach((chunk) => end.update(chunk));
      return end.hasNoIndex === true;
    };
    const media = box("mdat", Buffer.alloc(40));
    const open = Buffer.from(media);
    open.writeUInt32BE(0);
    for (const rest of [media, media.subarray(0, -9), open]) {
      assert.ok(hasNoIndex(ftyp("isom"), rest));
      assert.ok(!hasNoIndex(ftyp("isom"), box("moov"), rest));
    }
    assert.ok(!hasNoIndex(ftyp("isom"), box("\0\0\0\x07"), media), "these may be no boxes");
    assert.ok(hasNoIndex(ftyp("isom")), "nothing but its type");
    assert.ok(hasNoIndex(ftyp("isom"), Buffer.alloc(5_000)), "reserved, and never written");
    assert.ok(!Object.values(mp4s).some((one) => hasNoIndex(one)));
  });

  it("says that an MP4 with impossible sizes is damaged", () => {
    const small = box("moov");
    small.writeUInt32BE(7);
    assert.match(problemOf("mp4", ftyp("isom"), small, Buffer.alloc(40)) ?? "", /damaged/);
    const big = bigBox("mdat", Buffer.alloc(4));
    big.writeBigUInt64BE(15n, 8);
    assert.match(problemOf("mp4", ftyp("isom"), big) ?? "", /damaged/);
  });

  it("walks over a box of more than 4 GB without keeping it", () => {
    const chunk = Buffer.alloc(1024 * 1024);
    const head = bigBox("mdat", Buffer.alloc(0));
    head.writeBigUInt64BE(16n + 4500n * 1024n * 1024n, 8);
    const end = createFormatEnd("mp4");
    end.update(Buffer.concat([ftyp("isom"), box("moov", Buffer.alloc(8)), head]));
    for (let count = 0; count < 4500; count += 1) {
      assert.notEqual(end.problem(), null);
      end.update(chunk);
    }
    assert.equal(end.problem(), null);
  });
});
