import assert from "node:assert/strict";
import { encodePart } from "../../src/http/call.ts";

describe("a value that becomes one part of a path", () => {
  for (const [what, value, problem] of [
    // Its compatible form has 18 characters for each of these: more than a text can have.
    ["of 32 million characters", "\uFDFA".repeat(32_000_000), "it is longer than 200 characters."],
    ["of 32 million spaces", " ".repeat(32_000_000), "it is longer than 200 characters."],
    ["of 201 characters", "x".repeat(201), "it is longer than 200 characters."],
    ["of wide spaces", "\u3000", "it is empty."],
  ] as const) {
    it(`is refused: one ${what}`, () => {
      const error = { name: "DimensionerError", code: "ERR_INPUT" };
      assert.throws(() => encodePart("cloud", "media list", "transactionId", value), {
        ...error,
        message: `“${value.slice(0, 60)}${value.length > 60 ? "…" : ""}” is not valid for transactionId: ${problem} Nothing was sent.`,
      });
    });
  }

  it("has 200 characters at most", () => {
    const value = "\uFDFA".repeat(200);
    assert.equal(encodePart("cloud", "media list", "transactionId", value), encodeURIComponent(value));
  });
});
