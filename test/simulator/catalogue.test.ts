import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";

import {
  type Catalogue,
  nearest,
  openCatalogue,
  type Parcel,
  type PictureKind,
  weightLb,
} from "../../src/simulator/catalogue/index.ts";

const pictureKinds: readonly PictureKind[] = ["color", "annotated", "depth", "label", "video"];
/** What all pictures together may add to the package's archive. */
const budgetBytes = 420_000;

/** Width and height from a JPEG's frame header. */
function jpegSize(jpeg: Buffer): [number, number] {
  let at = 2;
  while (at < jpeg.length) {
    assert.equal(jpeg[at], 0xff, `a segment begins at ${at}`);
    const marker = jpeg[at + 1] ?? 0;
    if (marker >= 0xc0 && marker <= 0xc2) {
      return [jpeg.readUInt16BE(at + 7), jpeg.readUInt16BE(at + 5)];
    }
    at += 2 + jpeg.readUInt16BE(at + 2);
  }
  return assert.fail("no frame header");
}

/** The kinds and contents of an MP4's boxes; they must fill the range exactly. */
function mp4Boxes(mp4: Buffer): [string, Buffer][] {
  const boxes: [string, Buffer][] = [];
  let at = 0;
  while (at < mp4.length) {
    const size = mp4.readUInt32BE(at);
    assert.ok(size >= 8 && at + size <= mp4.length, `the box at ${at} lies inside`);
    boxes.push([mp4.toString("latin1", at + 4, at + 8), mp4.subarray(at + 8, at + size)]);
    at += size;
  }
  return boxes;
}

function inside(boxes: [string, Buffer][], kind: string): Buffer {
  const found = boxes.find(([name]) => name === kind);
  assert.ok(found, `there is a box ${kind}`);
  return found[1];
}

const isHalfStep = (cm: number): boolean => cm > 0 && Number.isInteger(cm * 2);

describe("the simulator's catalogue", () => {
  let catalogue: Catalogue;
  before(() => {
    catalogue = openCatalogue();
  });

  it("has six parcels that a dimensioner with half-centimetre steps could have measured", () => {
    assert.equal(catalogue.parcels.length, 6);
    assert.equal(new Set(catalogue.parcels.map((parcel) => parcel.name)).size, 6);
    assert.equal(new Set(catalogue.parcels.map((parcel) => parcel.barcode)).size, 6);
    for (const parcel of catalogue.parcels) {
      assert.match(parcel.name, /^[a-z]+(-[a-z]+)*$/);
      assert.ok([parcel.lengthCm, parcel.widthCm, parcel.heightCm].every(isHalfStep), parcel.name);
      assert.ok(parcel.lengthCm >= parcel.widthCm, parcel.name);
      assert.equal(parcel.weightKg, Number(parcel.weightKg.toFixed(2)));
      assert.ok(parcel.weightKg > 0 && parcel.rotationAngle >= 0 && parcel.rotationAngle < 90, parcel.name);
    }
  });

  it("gives each parcel a barcode whose check digit is right", () => {
    for (const { barcode } of catalogue.parcels) {
      assert.match(barcode, /^\d{18}$/);
      const sum = [...barcode].reduce(
        (total, digit, at) => total + Number(digit) * (at % 2 === 0 ? 3 : 1),
        0,
      );
      assert.equal(sum % 10, 0, barcode);
    }
  });

  it("reports the weight in pounds with two decimals", () => {
    assert.equal(weightLb({ weightKg: 1.27 }), 2.8);
    assert.equal(weightLb({ weightKg: 9.42 }), 20.77);
  });

  it("serves color and annotated pictures that are whole JPEGs of one size, and differ", () => {
    for (const parcel of catalogue.parcels) {
      const color = catalogue.read(parcel, "color");
      const annotated = catalogue.read(parcel, "annotated");
      for (const jpeg of [color, annotated]) {
        assert.equal(jpeg.toString("hex", 0, 3), "ffd8ff", parcel.name);
        assert.equal(jpeg.toString("hex", jpeg.length - 2), "ffd9", parcel.name);
      }
      assert.deepEqual(jpegSize(annotated), jpegSize(color));
      assert.ok(!annotated.equals(color), parcel.name);
    }
  });

  it("serves depth maps that are whole BMPs with a palette", () => {
    for (const parcel of catalogue.parcels) {
      const bmp = catalogue.read(parcel, "depth");
      assert.equal(bmp.toString("latin1", 0, 2), "BM");
      assert.equal(bmp.readUInt32LE(2), bmp.length);
      assert.equal(bmp.readUInt16LE(28), 8);
      assert.equal(bmp.length, 54 + 256 * 4 + bmp.readInt32LE(18) * bmp.readInt32LE(22));
      assert.equal(bmp.readUInt32LE(10), 54 + 256 * 4);
      assert.ok(new Set(bmp.subarray(54 + 256 * 4)).size > 50, "it shows more than a few depths");
    }
  });

  it("serves videos that are whole MP4s, two to three seconds long, with the index before the frames", () => {
    for (const parcel of catalogue.parcels) {
      const boxes = mp4Boxes(catalogue.read(parcel, "video"));
      const kinds = boxes.map(([kind]) => kind);
      assert.equal(kinds[0], "ftyp");
      assert.ok(kinds.includes("mdat") && kinds.indexOf("moov") < kinds.indexOf("mdat"), kinds.join(" "));
      assert.ok(kinds.includes("moov"), kinds.join(" "));
      const header = inside(mp4Boxes(inside(boxes, "moov")), "mvhd");
      const seconds = header.readUInt32BE(16) / header.readUInt32BE(12);
      assert.ok(seconds >= 2 && seconds <= 3, `${parcel.name} lasts ${seconds} s`);
    }
  });

  it("shows each parcel in pictures of its own", () => {
    const files = catalogue.parcels.flatMap((parcel) =>
      pictureKinds.map((kind) => catalogue.read(parcel, kind).toString("base64")),
    );
    assert.equal(new Set(files).size, catalogue.parcels.length * pictureKinds.length);
  });

  it("stays within what the package may weigh", () => {
    const all = Buffer.concat(
      catalogue.parcels.flatMap((parcel) => pictureKinds.map((kind) => catalogue.read(parcel, kind))),
    );
    const packed = gzipSync(all).length;
    assert.ok(packed < budgetBytes, `${packed} bytes`);
  });

  it("reads a file once and refuses names that are not in the table", () => {
    const [parcel] = catalogue.parcels;
    assert.ok(parcel);
    assert.equal(catalogue.read(parcel, "color"), catalogue.read({ ...parcel }, "color"));
    const madeUp: Parcel = { ...parcel, name: "../catalogue/cube" };
    assert.throws(() => catalogue.read(madeUp, "color"), /no pictures/);
  });

  describe("nearest", () => {
    const sizes: readonly (readonly [string, number, number, number])[] = [
      ["cube", 45, 45, 45],
      ["cube", 10, 11, 10],
      ["tube-box", 12, 120, 12],
      ["flat-carton", 40, 30, 4],
      ["shoe-box", 30, 18, 11],
      ["shipping-carton", 80, 50, 50],
    ];
    for (const [name, lengthCm, widthCm, heightCm] of sizes) {
      it(`takes the ${name} for ${lengthCm} × ${widthCm} × ${heightCm} cm`, () => {
        assert.equal(nearest(catalogue.parcels, { lengthCm, widthCm, heightCm }).name, name);
      });
    }

    it("finds every parcel by its own size", () => {
      for (const parcel of catalogue.parcels) {
        assert.equal(nearest(catalogue.parcels, parcel), parcel);
      }
    });

    it("answers for a size of nothing too", () => {
      const none = nearest(catalogue.parcels, { lengthCm: 0, widthCm: 0, heightCm: 0 });
      assert.equal(none.name, "cube");
    });
  });
});
