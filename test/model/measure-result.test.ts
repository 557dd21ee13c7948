import assert from "node:assert/strict";
import { inEnglish } from "../../src/errors/interpolation.ts";
import { ShapeError } from "../../src/model/decode.ts";
import { decodeMeasureResult, explainFailure } from "../../src/model/measure-result.ts";
import type { MeasureSource } from "../../src/model/measurement.ts";
import { parseJson, recordLimits } from "../../src/model/parse-json.ts";

type Fields = Record<string, unknown>;

const object = {
  trackId: 7,
  errorCode: 0,
  errorMessage: "-",
  rotationAngle: 12.5,
  length: 10.3,
  width: 12.1,
  height: 14.5,
};
const newer = {
  transactionReference: "R1",
  customReference1: null,
  customReference2: "",
  customReference3: "3",
  imageIdentifier: "0b5a3c7e-8f5a-4d39-9d1c-0a4f7f2a9c11",
  elapsedMs: 498,
  dateTimeLocal: "2026-03-01T10:00:00.1234567+01:00",
  dateTimeUtc: "2026-03-01T09:00:00.1234567Z",
  errorCode: 0,
  errorMessage: "-",
  objectCount: 1,
  dimsUnitOfMeasure: "cm",
  weightUnitOfMeasure: "lb",
  measurementFidelity: "0.5",
  legalForTrade: false,
  weight: 2.8,
  objectId: "",
  measuredObjects: [object],
};
const earlier = {
  elapsedMilliseconds: 512,
  dateTimeLocal: "2026-03-01T10:00:00+01:00",
  dateTimeUtc: "2026-03-01T09:00:00Z",
  errorCode: 0,
  errorMessage: "(0) - SUCCESS",
  objectCount: 1,
  unitOfMeasure: "in",
  measurementFidelity: 0.2,
  dimensionsLegalForTrade: true,
  imageId: "img-1",
  depthImage: null,
  colorImage: null,
  annotatedColorImage: null,
  measuredObjects: [object],
};
const read = (fields: Fields, source: MeasureSource = "newer-device"): Fields => ({
  ...decodeMeasureResult(fields, source),
});

describe("the result of a measure", () => {
  it("of the newer device keeps its names and values", () => {
    assert.deepEqual(read(newer), {
      ...newer,
      measurementFidelity: 0.5,
      transactionId: null,
      ok: true,
      summary: "10.3 × 12.1 × 14.5 cm, 2.8 lb",
      length: 10.3,
      width: 12.1,
      height: 14.5,
      device: null,
      deviceSerialNumber: null,
      deviceCertificate: null,
      source: "newer-device",
    });
  });

  it("of the earlier device gets the newer one's names", () => {
    assert.deepEqual(read(earlier, "earlier-device"), {
      transactionId: null,
      transactionReference: null,
      customReference1: null,
      customReference2: null,
      customReference3: null,
      imageIdentifier: "img-1",
      elapsedMs: 512,
      dateTimeLocal: earlier.dateTimeLocal,
      dateTimeUtc: earlier.dateTimeUtc,
      errorCode: 0,
      errorMessage: "(0) - SUCCESS",
      objectCount: 1,
      dimsUnitOfMeasure: "in",
      weightUnitOfMeasure: null,
      measurementFidelity: 0.2,
      legalForTrade: true,
      weight: null,
      objectId: null,
      measuredObjects: [object],
      depthImage: null,
      colorImage: null,
      annotatedColorImage: null,
      ok: true,
      summary: "10.3 × 12.1 × 14.5 in",
      length: 10.3,
      width: 12.1,
      height: 14.5,
      device: null,
      deviceSerialNumber: null,
      deviceCertificate: null,
      source: "earlier-device",
    });
  });

  it("of the cloud may lack pictures and references", () => {
    const { imageIdentifier: _1, customReference1: _2, ...fields } = newer;
    const result = read({ ...fields, transactionId: "905865" }, "cloud");
    assert.deepEqual(
      [result["transactionId"], result["imageIdentifier"], result["customReference1"], result["source"]],
      ["905865", null, null, "cloud"],
    );
  });

  it("what is missing or null is null, never 0 or empty", () => {
    const least = read({ errorCode: 3 });
    const { errorCode, ok, source, measuredObjects, ...others } = least;
    assert.deepEqual([errorCode, ok, source, measuredObjects], [3, false, "newer-device", []]);
    assert.ok(Object.values(others).every((value) => value === null));
    assert.equal(Object.keys(others).length, 18 - 1 + 7);
    const nulls = Object.fromEntries(Object.keys(newer).map((name) => [name, null]));
    assert.deepEqual(read({ ...nulls, errorCode: 3 }), least);
    const [nothing] = decodeMeasureResult({ errorCode: 0, measuredObjects: [{}] }, "cloud").measuredObjects;
    assert.deepEqual(nothing, Object.fromEntries(Object.keys(object).map((name) => [name, null])));
  });

  it("fields that nobody knows yet pass through, of objects too", () => {
    const result = decodeMeasureResult(
      { ...newer, volume: { cubic: 1 }, measuredObjects: [{ ...object, shape: "box" }] },
      "newer-device",
    );
    assert.deepEqual([result["volume"], result.measuredObjects[0]?.["shape"]], [{ cubic: 1 }, "box"]);
  });

  it("what stands first is ours, whatever the device calls so", () => {
    const theirs = { ok: true, source: "the moon", summary: "huge", length: 1, width: "x", device: "theirs" };
    const { ok, source, summary, length, width, device } = read({ ...newer, errorCode: 5, ...theirs });
    assert.deepEqual(
      [ok, source, summary, length, width, device],
      [false, "newer-device", null, null, null, null],
    );
  });

  it("begins with what most flows use, for each surface", () => {
    for (const source of ["newer-device", "earlier-device", "cloud"] as const) {
      const names = Object.keys(
        read({ weight: 1, ...(source === "earlier-device" ? earlier : newer) }, source),
      );
      assert.deepEqual(names.slice(0, 10), [
        "ok",
        "summary",
        "length",
        "width",
        "height",
        "weight",
        "dimsUnitOfMeasure",
        "weightUnitOfMeasure",
        "device",
        "source",
      ]);
    }
  });

  const figures: readonly (readonly [string, Fields, string | null, readonly (number | null)[]])[] = [
    ["metric units", { weightUnitOfMeasure: "kg" }, "10.3 × 12.1 × 14.5 cm, 2.8 kg", [10.3, 12.1, 14.5, 2.8]],
    [
      "inches and pounds",
      { dimsUnitOfMeasure: "in" },
      "10.3 × 12.1 × 14.5 in, 2.8 lb",
      [10.3, 12.1, 14.5, 2.8],
    ],
    ["no weight", { weight: null }, "10.3 × 12.1 × 14.5 cm", [10.3, 12.1, 14.5, null]],
    ["a weight of 0", { weight: 0 }, "10.3 × 12.1 × 14.5 cm, 0 lb", [10.3, 12.1, 14.5, 0]],
    [
      "no units",
      { dimsUnitOfMeasure: null, weightUnitOfMeasure: null },
      "10.3 × 12.1 × 14.5, 2.8",
      [10.3, 12.1, 14.5, 2.8],
    ],
    [
      "a side that is missing",
      { measuredObjects: [{ ...object, width: null }] },
      "10.3 × ? × 14.5 cm, 2.8 lb",
      [10.3, null, 14.5, 2.8],
    ],
    ["two objects", { objectCount: 2, measuredObjects: [object, object] }, null, [null, null, null, 2.8]],
    ["no object", { objectCount: 0, measuredObjects: [] }, null, [null, null, null, 2.8]],
    [
      "an object that failed",
      { measuredObjects: [{ ...object, errorCode: 9 }] },
      null,
      [null, null, null, 2.8],
    ],
    ["a count that does not fit", { objectCount: 2 }, null, [null, null, null, 2.8]],
  ];
  for (const [name, fields, summary, values] of figures) {
    it(`says the figures of the one object: ${name}`, () => {
      const result = decodeMeasureResult({ ...newer, ...fields }, "newer-device");
      assert.equal(result.summary, summary);
      assert.deepEqual([result.length, result.width, result.height, result.weight], values);
    });
  }

  const fidelities: [unknown, number | null][] = [
    ["0.5", 0.5],
    [" 0.5 ", 0.5],
    ["1", 1],
    [".2", 0.2],
    [0.2, 0.2],
    [1, 1],
    [null, null],
    [undefined, null],
  ];
  for (const [given, taken] of fidelities) {
    it(`measurementFidelity ${JSON.stringify(given)} is ${taken}`, () =>
      assert.equal(read({ ...newer, measurementFidelity: given })["measurementFidelity"], taken));
  }

  const guid = "6f9619ff-8b86-d011-b42d-00cf4fc964ff";
  for (const [given, taken] of [
    [905865, "905865"],
    ["905865", "905865"],
    ["000905865", "000905865"],
    [guid, guid],
    [null, null],
  ]) {
    it(`transactionId ${JSON.stringify(given)} is ${JSON.stringify(taken)}`, () =>
      assert.equal(read({ ...newer, transactionId: given }, "cloud")["transactionId"], taken));
  }

  for (const text of ["-", "", "(0) - SUCCESS", "0-SUCCESS", "FAILED", null, undefined, 0]) {
    it(`errorCode 0 is a success whatever the text, ${JSON.stringify(text)} too`, () => {
      const measured = [{ ...object, errorMessage: text }];
      assert.equal(read({ ...newer, errorMessage: text, measuredObjects: measured })["ok"], true);
      assert.equal(read({ ...newer, errorMessage: text, errorCode: 1 })["ok"], false);
    });
  }

  const failures: [string, Fields, string, number][] = [
    ["an errorCode on top", { errorCode: 17, errorMessage: "Too tall." }, "Too tall (error code 17)", 17],
    ["a negative errorCode", { errorCode: -1, errorMessage: "-" }, "error code -1", -1],
    [
      "an errorCode of an object",
      { measuredObjects: [{ ...object, errorCode: 9, errorMessage: "(9) - DARK" }] },
      "(9) - DARK (error code 9)",
      9,
    ],
    [
      "an errorCode of the second object",
      { objectCount: 2, measuredObjects: [object, { ...object, errorCode: 4, errorMessage: null }] },
      "error code 4",
      4,
    ],
    ["an object without errorCode", { measuredObjects: [{ length: 1 }] }, "error code missing", 0],
    ["no object", { objectCount: 0, measuredObjects: [] }, "no parcel was found on the table", 0],
    ["no list of objects", { objectCount: 1, measuredObjects: null }, "no parcel was found on the table", 0],
    ["a count too high", { objectCount: 2 }, "the device reports 2 objects but describes 1", 0],
    ["a count too low", { objectCount: 0 }, "the device reports 0 objects but describes 1", 0],
    [
      "no count",
      { objectCount: null },
      "the device does not say how many objects there are, but describes 1",
      0,
    ],
  ];
  for (const [name, fields, problem, errorCode] of failures) {
    it(`is not ok with ${name}`, () => {
      const result = decodeMeasureResult({ ...newer, ...fields }, "newer-device");
      assert.equal(result.ok, false);
      const explained = explainFailure(result);
      assert.deepEqual([inEnglish(explained.problem), explained.errorCode], [problem, errorCode]);
    });
  }

  it("two objects are well when both are", () => {
    assert.equal(read({ ...newer, objectCount: 2, measuredObjects: [object, object] })["ok"], true);
  });

  it("an unknown unit is handed on", () => {
    assert.equal(read({ ...newer, dimsUnitOfMeasure: "cubit" })["dimsUnitOfMeasure"], "cubit");
  });

  const shapeless: [string, unknown][] = [
    ...[null, undefined, 1, "x", true, [], [newer], {}].map((value): [string, unknown] => [
      JSON.stringify(value) ?? "undefined",
      value,
    ]),
    ...Object.entries({
      errorCode: ["", null, 0.5, true, "s3cr3t"],
      weight: ["heavy", "0,5", [1]],
      measuredObjects: [{}, "x", [1], [null], [{ length: "1,5" }], [{ height: true }]],
    }).flatMap(([name, values]) =>
      values.map((value): [string, unknown] => [
        `${name} ${JSON.stringify(value)}`,
        { ...newer, [name]: value },
      ]),
    ),
  ];
  for (const [name, value] of shapeless) {
    it(`is no result: ${name}`, () => {
      for (const source of ["newer-device", "earlier-device", "cloud"] as const) {
        assert.throws(
          () => decodeMeasureResult(value, source),
          (error) =>
            error instanceof ShapeError && !error.message.includes("s3cr3t") && error.message.length < 80,
        );
      }
    });
  }

  // What was measured must not be lost because of a field beside it; the exact answer stays on the message.
  for (const [name, values] of Object.entries({
    objectCount: [true, {}, "one"],
    elapsedMs: ["fast", []],
    measurementFidelity: ["half", "", "0,5", true, "1e3"],
    legalForTrade: ["true", 0],
    transactionReference: [true, {}, []],
    weight: [""],
  })) {
    for (const given of values) {
      it(`${name} ${JSON.stringify(given)} is null`, () => {
        const result = read({ ...newer, [name]: given });
        assert.deepEqual([result[name], result["measuredObjects"]], [null, [object]]);
      });
    }
  }

  it("figures and error codes that come as text are read as numbers", () => {
    const measured = { ...object, errorCode: "0", length: "10.3", width: " 12.1" };
    const texts = { errorCode: "0", objectCount: "1", weight: "2.8", measuredObjects: [measured] };
    assert.deepEqual(read({ ...newer, ...texts }), read(newer));
  });

  it("a failure is reported whatever its figures are", () => {
    const measured = [{ ...object, errorCode: 4, length: "N/A", trackId: {} }];
    const failed = read({ ...newer, errorCode: 17, weight: "?", measuredObjects: measured });
    assert.deepEqual([failed["ok"], failed["errorCode"], failed["weight"]], [false, 17, null]);
    assert.deepEqual(failed["measuredObjects"], [{ ...object, errorCode: 4, length: null, trackId: null }]);
    assert.deepEqual(read({ ...newer, errorCode: 17, measuredObjects: "none" })["measuredObjects"], []);
  });

  it("a track id that no number holds stays exact", () => {
    const { measuredObjects } = decodeMeasureResult(
      parseJson(
        '{"errorCode":0,"objectCount":1,"measuredObjects":[{"trackId":9223372036854775807,"errorCode":0}]}',
        recordLimits,
      ),
      "newer-device",
    );
    assert.equal(measuredObjects[0]?.trackId, "9223372036854775807");
  });
});
