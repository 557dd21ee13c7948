import assert from "node:assert/strict";
import { ShapeError } from "../../src/model/decode.ts";
import {
  decodeDevice,
  decodeDevices,
  decodeMediaList,
  decodeTerminal,
  decodeTerminals,
} from "../../src/model/transaction-record.ts";

describe("records of the cloud", () => {
  it("media items keep their fields, and more", () => {
    const item = { contentId: "c1", contentType: "image/jpeg", description: "ColorImageJpeg", size: 3 };
    assert.deepEqual(decodeMediaList([item]), [item]);
    assert.deepEqual(decodeMediaList([]), []);
    assert.deepEqual(decodeMediaList([{ contentId: 7 }]), [
      { contentId: "7", contentType: null, description: null },
    ]);
  });

  it("terminal ids may be numbers or text", () => {
    const device = { id: "d", registrationCode: "ABCD2345", terminalId: 12 };
    assert.equal(decodeDevice(device).terminalId, "12");
    assert.equal(decodeDevice({ ...device, terminalId: "12" }).terminalId, "12");
    assert.equal(decodeDevice({ ...device, terminalId: null }).terminalId, null);
    assert.deepEqual(
      decodeTerminals([{ id: 12 }, { id: "12" }]).map(({ id }) => id),
      ["12", "12"],
    );
  });

  it("all fields of a terminal and of a device but the id may be null", () => {
    const nulls = { name: null, reference: null, city: null, country: null };
    assert.equal(decodeTerminal({ id: 1, ...nulls }).addressLine1, null);
    assert.equal(decodeDevice({ id: "1", name: null }).lastHeartbeatUtc, null);
  });

  it("a field that cannot be used is null: it costs neither its record nor the others of a list", () => {
    assert.deepEqual(decodeMediaList([{ contentId: "a", contentType: {} }, { contentId: "b" }]), [
      { contentId: "a", contentType: null, description: null },
      { contentId: "b", contentType: null, description: null },
    ]);
  });

  const shapeless: [string, () => unknown][] = [
    ["an object for a list", () => decodeMediaList({})],
    ["null for a list", () => decodeDevices(null)],
    ["a list of text", () => decodeTerminals(["x"])],
    ["no contentId", () => decodeMediaList([{ contentType: "image/jpeg" }])],
    ["an empty contentId", () => decodeMediaList([{ contentId: "" }])],
    ["a contentId of null", () => decodeMediaList([{ contentId: null }])],
    ["a device without id", () => decodeDevice({ name: "Dock" })],
    ["an ID of 10,001 characters", () => decodeDevice({ id: "x".repeat(10_001) })],
    ["a list for a device", () => decodeDevice([{ id: "1" }])],
    ["a terminal whose id is an object", () => decodeTerminal({ id: {} })],
  ];
  for (const [name, decode] of shapeless) {
    it(`refuses ${name}`, () => assert.throws(decode, ShapeError));
  }
});
