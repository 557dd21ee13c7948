import assert from "node:assert/strict";
import { putAt } from "../../src/runtime/archive/intent.ts";

describe("a value that is put into a message", () => {
  for (const [which, message, path, after] of [
    ["in place of an element", { ids: ["A"] }, ["ids", 0], { ids: ["1"] }],
    ["in an element", { ids: [{}] }, ["ids", 0, "id"], { ids: [{ id: "1" }] }],
    ["beside another property", { order: { name: "A" } }, ["order", "id"], { order: { name: "A", id: "1" } }],
    ["in place of nothing", { order: null }, ["order", "id"], { order: { id: "1" } }],
    ["in an object instead of a list", {}, ["ids", 200_000_000], { ids: { 200000000: "1" } }],
  ] as const) {
    it(`is put ${which}`, () => {
      assert.ok(putAt(message, path, "1"));
      assert.deepEqual(message, after);
    });
  }

  for (const [which, message, path] of [
    ["to make a list longer", { ids: ["A"] }, ["ids", 200_000_000]],
    ["in a gap of a list", { ids: Object.assign([], { 0: "A", 2: "C" }) }, ["ids", 1]],
    ["as the length of a list", { ids: ["A"] }, ["ids", "length"]],
    ["into a list that it would make longer", { ids: [] }, ["ids", 2, "id"]],
    ["below a text", { order: "A" }, ["order", "id"]],
    ["in a prototype", {}, ["__proto__", "id"]],
    ["in the prototype of a part", { order: {} }, ["order", "__proto__"]],
    ["nowhere", {}, []],
  ] as const) {
    it(`is not put ${which}`, () => {
      const before = structuredClone(message);
      assert.equal(putAt(message, path, "1"), false);
      assert.deepEqual(message, before);
    });
  }
});
