import assert from "node:assert/strict";
import { isDimensionerError } from "../../src/errors/dimensioner-error.ts";
import { readMedia } from "../../src/runtime/archive/intent.ts";
import { farList } from "../support/far-list.ts";

const operation = { operation: "archive", surface: "disk", acts: false } as const;
const image = Buffer.from("image");

describe("the media on a message for an archive", () => {
  const read = (payload: unknown) => readMedia({ payload }, operation);

  for (const [what, payload] of [
    ["a list with billions of holes", farList([1, { a: 1 }])],
    ["a list of millions of numbers", Array(3_000_000).fill(1)],
  ] as const) {
    it(`are none in ${what}`, () => {
      assert.deepEqual(read(payload), []);
    });
  }

  for (const [what, payload, value] of [
    ["billions of holes before them", farList([image, image]), "[…] (4294967295)"],
    ["more of them than a package is made of", Array(10_001).fill(image), "[…] (10001)"],
    ["one behind many other values", [...Array(100_000).fill(0), image], "[…] (100001)"],
    ["a hole between them", Object.assign([image], { 2: image }), "undefined"],
  ] as const) {
    it(`are refused in a list with ${what}`, () => {
      assert.throws(
        () => read(payload),
        (error) => {
          assert.ok(isDimensionerError(error));
          assert.deepEqual([error.code, error.sentence], ["ERR_INPUT", "inputValue"]);
          assert.equal(error.values["value"], value);
          return true;
        },
      );
    });
  }

  it("are all of a list that is as long as it may be", () => {
    assert.equal(read(Array(10_000).fill(image)).length, 10_000);
  });
});
