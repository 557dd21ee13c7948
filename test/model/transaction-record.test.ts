import assert from "node:assert/strict";
import { ShapeError } from "../../src/model/decode.ts";
import { parseJson, recordLimits } from "../../src/model/parse-json.ts";
import { decodeTransactionRecord } from "../../src/model/transaction-record.ts";

const v2 = {
  id: "6B2E0A2C-6E4B-4C86-9AE0-1C2F5B7D9E10",
  legacyId: 905865,
  deviceClientId: "d1",
  errorCode: 0,
  errorDescription: "(0) - SUCCESS",
  transactionDateTime: "2026-11-20T08:00:00Z",
  elapsedTimeMilliseconds: 812,
  isManualDimension: false,
  measurementUnitOfMeasureCd: "cm",
  weightUnitOfMeasureCd: "lb",
  measurementFidelity: "0.5",
  rotationAngle: 12.25,
  length: 33.5,
  width: 21,
  height: 12.5,
  weight: 2.8,
  cameraSerialId: "CAM-1",
  barcodeReference: "395212340000004173",
  customReference1: "c1",
  customReference2: null,
  transactionReference: "ORDER-1",
};

describe("transaction records", () => {
  it("reads version 2 into the names that a measure's result has", () => {
    assert.deepEqual(decodeTransactionRecord(v2), {
      transactionId: "6B2E0A2C-6E4B-4C86-9AE0-1C2F5B7D9E10",
      legacyId: "905865",
      deviceClientId: "d1",
      errorCode: 0,
      errorMessage: "(0) - SUCCESS",
      dateTimeUtc: "2026-11-20T08:00:00Z",
      elapsedMs: 812,
      isManualDimension: false,
      dimsUnitOfMeasure: "cm",
      weightUnitOfMeasure: "lb",
      measurementFidelity: 0.5,
      rotationAngle: 12.25,
      length: 33.5,
      width: 21,
      height: 12.5,
      weight: 2.8,
      cameraSerialId: "CAM-1",
      barcodeReference: "395212340000004173",
      customReference1: "c1",
      customReference2: null,
      customReference3: null,
      transactionReference: "ORDER-1",
      device: null,
      deviceSerialNumber: null,
      deviceCertificate: null,
      ok: true,
      source: "webhook",
    });
  });

  it("reads version 1: the id as opaque text, no legacyId, and a failure that is not ok", () => {
    const record = decodeTransactionRecord({ id: 905865, errorCode: 3, measurementFidelity: 0.2 });
    assert.equal(record.transactionId, "905865");
    assert.equal(record.legacyId, null);
    assert.equal(record.ok, false);
    assert.equal(record.measurementFidelity, 0.2);
    assert.equal(record.length, null, "what is missing is null, never 0");
  });

  it("keeps an integer id beyond 2^53 to the last digit, and numbers that come as text", () => {
    const record = decodeTransactionRecord(
      parseJson('{"id":9007199254740993,"errorCode":"0","length":"10.5"}', recordLimits),
    );
    assert.deepEqual([record.transactionId, record.ok, record.length], ["9007199254740993", true, 10.5]);
  });

  it("lets fields pass that nobody knows yet, and lets none of them pose as ours", () => {
    const record = decodeTransactionRecord({
      ...v2,
      palletId: { n: 7 },
      transactionId: "x",
      ok: 1,
      source: "y",
    });
    assert.deepEqual(record["palletId"], { n: 7 });
    assert.deepEqual([record.transactionId, record.ok, record.source], [v2.id, true, "webhook"]);
  });

  // The cloud posts a record once: a record that is refused because of one odd field would be lost.
  for (const errorCode of [undefined, null, "", "OK", 0.5, true]) {
    it(`takes a record whose error code is ${JSON.stringify(errorCode)}, which is not ok`, () => {
      const record = decodeTransactionRecord({ ...v2, errorCode });
      assert.deepEqual([record.errorCode, record.ok, record.length], [null, false, 33.5]);
    });
  }

  const odd: readonly (readonly [name: string, as: string, given: unknown])[] = [
    ["length", "length", "long"],
    ["width", "width", "0,5"],
    ["weight", "weight", {}],
    ["length", "length", -5],
    ["height", "height", 0],
    ["width", "width", "-0.5"],
    ["weight", "weight", -0.02],
    ["elapsedTimeMilliseconds", "elapsedMs", "1e3"],
    ["measurementFidelity", "measurementFidelity", true],
    ["isManualDimension", "isManualDimension", 0],
    ["isManualDimension", "isManualDimension", "false"],
    ["barcodeReference", "barcodeReference", ["1", "2"]],
    ["legacyId", "legacyId", {}],
    ["weightUnitOfMeasureCd", "weightUnitOfMeasure", "kg".repeat(151)],
    ["customReference1", "customReference1", "R".repeat(10_001)],
  ];
  for (const [name, as, given] of odd) {
    it(`reads ${JSON.stringify(given).slice(0, 40)} as ${name} to null, and keeps it beside`, () => {
      const expected = { ...decodeTransactionRecord(v2), [as]: null, unreadable: { [as]: given } };
      const record = decodeTransactionRecord({ ...v2, [name]: given });
      assert.deepEqual(record, expected);
      assert.deepEqual(decodeTransactionRecord(JSON.parse(JSON.stringify(record))), expected, "from a store");
    });
  }

  it("takes the sizes of what was not measured as they are", () => {
    const { length, weight } = decodeTransactionRecord({ ...v2, errorCode: 7, length: 0, weight: -1 });
    assert.deepEqual([length, weight], [0, -1]);
    assert.equal(decodeTransactionRecord({ ...v2, weight: 0 }).weight, 0);
  });

  it("reads an empty text as a number that is missing, not as 0", () => {
    const { length, weight, unreadable } = decodeTransactionRecord({ ...v2, length: "", weight: "" });
    assert.deepEqual([length, weight, unreadable], [null, null, undefined]);
  });

  for (const [what, value] of Object.entries({
    null: null,
    text: "record",
    list: [v2],
    "no id": { ...v2, id: undefined },
    "an empty id": { ...v2, id: "" },
    "an id that is an object": { ...v2, id: {} },
  })) {
    it(`refuses ${what}`, () => {
      assert.throws(() => decodeTransactionRecord(value), ShapeError);
    });
  }
});
