import assert from "node:assert/strict";
import * as fc from "fast-check";
import { missingMedia, readExpected } from "../../src/cloud/expected-media.ts";

const item = (contentType: string | null, description: string | null) => ({
  contentId: "c",
  contentType,
  description,
});
const items = [
  item("image/jpeg", "ColorImageJpeg"),
  item("image/jpeg", "AnnotatedColorImageJpeg"),
  item("video/mp4", null),
];

describe("expected media", () => {
  const table: [string[], string[]][] = [
    [[], []],
    [["image/jpeg"], []],
    [["IMAGE/JPEG", "colorimagejpeg"], []],
    [["image/jpeg", "image/jpeg"], []],
    [["image/jpeg", "image/jpeg", "image/JPEG"], ["image/JPEG"]],
    [["video/mp4", "DepthImage16Bit"], ["DepthImage16Bit"]],
    [["video/mp4", "video/mp4"], ["video/mp4"]],
    [["null"], ["null"]],
    [["image"], ["image"]],
  ];
  for (const [expect, missing] of table) {
    it(`of ${expect.join(", ") || "nothing"} ${missing.join(", ") || "nothing"} is missing`, () =>
      assert.deepEqual(missingMedia(items, expect), missing));
  }

  it("is what a plain reading of the rule finds, whatever there is", () => {
    // Of these, some are equal in lower case only, and one becomes longer in it.
    const name = fc.constantFrom(
      "image/jpeg",
      "IMAGE/JPEG",
      "video/mp4",
      "Video",
      "",
      "\u0130",
      "i\u0307",
      "__proto__",
    );
    const optional = fc.option(name);
    const listed = fc.array(fc.record({ contentType: optional, description: optional }), { maxLength: 8 });
    fc.assert(
      fc.property(listed, fc.array(name, { maxLength: 12 }), (facts, expect) => {
        const listedItems = facts.map(({ contentType, description }) => item(contentType, description));
        const isOne = (expected: string, given: string | null): boolean =>
          given !== null && given.toLowerCase() === expected.toLowerCase();
        const missing = expect.filter((entry, index) => {
          const wanted = expect.slice(0, index + 1).filter((other) => isOne(entry, other));
          const there = listedItems.filter(
            (one) => isOne(entry, one.contentType) || isOne(entry, one.description),
          );
          return there.length < wanted.length;
        });
        assert.deepEqual(missingMedia(listedItems, expect), missing);
      }),
      { numRuns: 2_000 },
    );
  });

  it("is found with one look at each item, however many are expected", () => {
    let looks = 0;
    const counted = {
      ...item(null, null),
      get contentType() {
        looks += 1;
        return "image/jpeg";
      },
    };
    missingMedia(
      [counted],
      Array.from({ length: 100 }, () => "image/jpeg"),
    );
    assert.equal(looks, 1);
  });

  it("is read from a list with commas", () => {
    assert.deepEqual(readExpected(" image/jpeg, ,video/mp4,, "), ["image/jpeg", "video/mp4"]);
    assert.deepEqual(readExpected(" , "), []);
  });
});
