import assert from "node:assert/strict";
import { readLocalMeasurement } from "../../../src/model/local-measurement.ts";

const references = {
  transactionReference: "ORDER-1",
  customReference1: null,
  customReference2: "t-1",
  customReference3: null,
};
const measuredBy = {
  id: "device",
  name: "Dock 4",
  surface: "newer-device",
  deviceReference: null,
  sentAt: "2026-11-22T09:00:00.000Z",
  references,
  tag: "t-1",
};
const result = {
  ok: true,
  length: 33.5,
  width: 21,
  height: 12.5,
  weight: 1.27,
  dimsUnitOfMeasure: "cm",
  weightUnitOfMeasure: "kg",
  measurementFidelity: 0.5,
  dateTimeUtc: "2026-11-22T08:59:59.120Z",
  measuredObjects: [],
};
const figures = {
  length: 33.5,
  width: 21,
  height: 12.5,
  dimsUnit: "cm",
  step: 0.5,
  weight: 1.27,
  weightUnit: "kg",
};

describe("what a message says of a local measurement", () => {
  it("is what was sent and when, and what was measured", () => {
    assert.deepEqual(readLocalMeasurement(measuredBy, result), {
      sentAt: measuredBy.sentAt,
      references,
      tag: "t-1",
      ok: true,
      figures,
      deviceUtcTime: result.dateTimeUtc,
    });
  });

  it("leaves out what a flow has replaced by something else", () => {
    const changed = { ...result, weight: "1.27 kg", height: undefined };
    assert.deepEqual(readLocalMeasurement(measuredBy, changed)?.figures, {
      ...figures,
      weight: null,
      height: null,
    });
  });

  it("is as successful as the device's own code says, which is what the record has of it", () => {
    const successOf = (code: number | undefined, ok: boolean): boolean | undefined =>
      readLocalMeasurement(measuredBy, { ...result, ok, errorCode: code })?.ok;
    assert.equal(successOf(0, false), true, "one of its objects has failed, or there is none");
    assert.equal(successOf(4, false), false);
    assert.equal(successOf(undefined, false), false, "a flow has removed it");
  });

  for (const [title, by, measured] of [
    ["nobody says who measured", undefined, result],
    ["the cloud has measured", { ...measuredBy, surface: "cloud" }, result],
    ["nobody says when it was sent", { ...measuredBy, sentAt: undefined }, result],
    ["the time is none", { ...measuredBy, sentAt: "yesterday" }, result],
    ["there is no result", measuredBy, Buffer.from("picture")],
  ] as const) {
    it(`is nothing where ${title}`, () => {
      assert.equal(readLocalMeasurement(by, measured), null);
    });
  }
});
