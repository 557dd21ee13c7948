import assert from "node:assert/strict";
import { show } from "../../src/runtime/messages.ts";
import { farList } from "../support/far-list.ts";

const circle: Record<string, unknown> = {};
circle["itself"] = circle;

describe("a value from a message in an error", () => {
  for (const [what, value, shown] of [
    ["a text, on one line", "a\n b", "a b"],
    ["a number", 33.5, "33.5"],
    ["nothing", undefined, "undefined"],
    ["a short object", { a: 1, b: [null] }, '{"a":1,"b":[null]}'],
    ["the beginning of a longer object", { name: "x".repeat(100) }, `{"name":"${"x".repeat(51)}`],
    ["no long text as a whole", "x".repeat(100_000), "x".repeat(60)],
    ["no object that is very long as JSON", { name: "x".repeat(1_000) }, "{…}"],
    ["no list with billions of holes", farList([1]), "[…]"],
    ["nothing that has no JSON", circle, "object"],
  ] as const) {
    it(`is ${what}`, () => {
      assert.equal(show(value), shown);
    });
  }

  it("is no Buffer with an image", () => {
    assert.equal(show(Buffer.alloc(1_000_000_000)), "{…}");
  });
});
