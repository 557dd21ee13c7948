import assert from "node:assert/strict";
import { DimensionerError } from "../../src/errors/dimensioner-error.ts";
import type { SentenceKey } from "../../src/errors/sentences.ts";
import { failedKeyOf, statusTexts } from "../../src/runtime/status/node-status.ts";

describe("the short cause below a red ring", () => {
  const keys: readonly (readonly [SentenceKey, string])[] = [
    ["bucketUnreachable", "bucketAway"],
    ["bucketDenied", "bucketAway"],
    ["postgresUnreachable", "failed.ERR_STORE"],
    ["storeFull", "failed.ERR_STORE"],
    ["storeMoved", "failed.ERR_CONFIG"],
    ["storeJobsOpen", "failed.ERR_CONFIG"],
    ["timestampLogin", "loginRejected"],
    ["bucketAddress", "failed.ERR_CONFIG"],
    ["fileFull", "failed.ERR_FILE"],
  ];
  for (const [sentence, key] of keys) {
    it(`names the part of the store that has failed: ${key} of ${sentence}`, () => {
      assert.equal(
        failedKeyOf(new DimensionerError(sentence, { surface: "store", operation: "store" })),
        key,
      );
    });
  }

  it("does not say of a bucket that it is a database", () => {
    assert.equal(statusTexts.bucketAway, "bucket not available");
  });
});
