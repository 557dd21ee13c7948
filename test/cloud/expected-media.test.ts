import assert from "node:assert/strict";
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

  it("is read from a list with commas", () => {
    assert.deepEqual(readExpected(" image/jpeg, ,video/mp4,, "), ["image/jpeg", "video/mp4"]);
    assert.deepEqual(readExpected(" , "), []);
  });
});
