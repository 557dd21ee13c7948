import assert from "node:assert/strict";
import { isJsonLonger } from "../../src/model/parse-json.ts";
import { farList } from "../support/far-list.ts";

/** A list that contains the one below it twice, and so on: it is small, and its JSON doubles with each level. */
function doubled(levels: number): unknown[] {
  return levels === 0 ? [] : Array<unknown>(2).fill(doubled(levels - 1));
}

describe("the length of a JSON that is not written", () => {
  const shared = { a: [1, 2] };
  for (const [what, value] of [
    ["a text", "text"],
    ["a text with quotes", '"""'],
    ["numbers", [0, -1.5, 1e300, 33.02, -0, 12345678901]],
    ["what is no number in JSON", [NaN, Infinity, -Infinity]],
    ["what is left out", { a: undefined, b: () => 1, c: Symbol("c") }],
    ["what is left out of a list", [undefined, () => 1, Symbol("c")]],
    ["holes", Object.assign([], { length: 1_000 })],
    ["objects in lists", { measuredObjects: [{ length: 1, width: true }, null, {}, []], source: "cloud" }],
    ["the same object twice", [shared, shared, { shared }]],
    ["a date", { at: new Date(0) }],
    ["what toJSON returns", [{ toJSON: () => ({ a: 1 }) }, { toJSON: () => undefined }]],
    ["a Buffer", Buffer.alloc(1_000)],
    ["another view", new Uint8Array(1_000)],
    ["a view without elements", new DataView(new ArrayBuffer(10))],
    ["a map", new Map([[1, 2]])],
    ["nothing", undefined],
  ] as const) {
    for (const indent of [0, 2]) {
      it(`is not counted longer than it is, nor as less than half of it: ${what}, indented by ${indent}`, () => {
        const text = JSON.stringify(value, null, indent) ?? "null";
        assert.equal(isJsonLonger(value, text.length, indent), false);
        assert.equal(isJsonLonger(value, Math.floor(text.length / 2) - 3, indent), true);
      });
    }
  }

  for (const [what, value] of [
    ["a list with billions of holes", () => ({ list: farList([1]) })],
    ["a list that doubles 40 times", () => doubled(40)],
    ["a Buffer of 1 GB", () => ({ picture: Buffer.alloc(1e9) })],
    ["100 million floating-point numbers", () => new Float32Array(1e8)],
  ] as const) {
    it(`is known to be above the limit at once: ${what}`, () => {
      assert.equal(isJsonLonger(value(), 1_000_000), true);
    });
  }

  it("is unknown of a value that refers to itself", () => {
    const list: unknown[] = [];
    list.push({ list });
    assert.throws(() => isJsonLonger({ list }, 1_000), TypeError);
  });

  it("is only counted to the limit in a value that is nested without an end", () => {
    const nested = { toJSON: (): unknown => [{ toJSON: nested.toJSON }] };
    assert.equal(isJsonLonger(nested, 1_000_000), true);
  });
});
