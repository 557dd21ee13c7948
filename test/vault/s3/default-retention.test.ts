import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { sha256Of } from "../../../src/model/sha256.ts";
import { readS3Url } from "../../../src/vault/s3/bucket-address.ts";
import { Bucket, probeBucket } from "../../../src/vault/s3/bucket.ts";
import { forTests, sourceOf } from "../../support/s3-servers.ts";
import { type BucketStub, startStub } from "../../support/s3-stub.ts";

describe("a bucket whose owner has set a default retention", () => {
  let stub: BucketStub;
  let bucket: Bucket;
  before(async () => {
    stub = await startStub({ hasDefaultRetention: true });
    bucket = await Bucket.open(readS3Url(stub.url("")), forTests);
  });
  after(async () => {
    await bucket.close();
    await stub.close();
  });

  const contents = { small: randomBytes(1_000), "object in parts": randomBytes(9 * 1024 * 1024) };
  for (const [what, content] of Object.entries(contents)) {
    it(`stores a ${what} without a retention time of its own, and removes it from what is listed`, async () => {
      assert.equal(await bucket.store(what, sourceOf(content), { isNew: true }), "stored");
      assert.equal((await bucket.head(what))?.sha256, sha256Of(content));
      await bucket.remove(what);
      assert.equal(await bucket.head(what), undefined);
      assert.deepEqual(
        stub.versions.get(what)?.map(({ body }) => sha256Of(body)),
        [sha256Of(content)],
        "what is retained stays as an earlier version",
      );
      assert.equal(await bucket.store(what, sourceOf(content), { isNew: true }), "stored");
    });
  }

  it("passes the test of a connection", async () => {
    assert.deepEqual(await probeBucket(bucket, "parcels/"), { isConditional: true, hasLock: true });
    assert.ok([...stub.objects.keys()].every((key) => !key.startsWith("parcels/")));
  });
});
