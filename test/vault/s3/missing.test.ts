import assert from "node:assert/strict";
import { text } from "node:stream/consumers";
import { readS3Url } from "../../../src/vault/s3/bucket-address.ts";
import { Bucket } from "../../../src/vault/s3/bucket.ts";
import { forTests, sourceOf } from "../../support/s3-servers.ts";
import { type BucketStub, type Fault, type StubRequest, startStub } from "../../support/s3-stub.ts";

describe("what is not in a bucket", () => {
  let stub: BucketStub;
  let bucket: Bucket;
  before(async () => {
    stub = await startStub();
    bucket = await Bucket.open(readS3Url(stub.url("")), forTests);
    await bucket.store("a", sourceOf(Buffer.from("a picture")));
  });
  after(async () => {
    await bucket.close();
    await stub.close();
  });
  beforeEach(() => {
    stub.fault = () => undefined;
    stub.requests.length = 0;
  });

  /** As a proxy answers that does not reach the object store at this moment. */
  const byProxy: Fault = { status: 404, text: "404 page not found\n" };
  const failFirst = (times: number, fits: (request: StubRequest) => boolean): void => {
    let left = times;
    stub.fault = (request) => (fits(request) && left-- > 0 ? byProxy : undefined);
  };

  it("is what the object store says is not there", async () => {
    assert.equal(await bucket.read("b"), undefined);
    assert.equal(await bucket.head("b"), undefined);
  });

  it("is not what a proxy says is not there: it is asked for again", async () => {
    failFirst(4, ({ method }) => method === "GET");
    const opened = await bucket.read("a");
    assert.equal(opened && (await text(opened.body)), "a picture");
    assert.equal(stub.requests.length, 5);
  });

  it("is an error if only a proxy says so, however often it is asked", async () => {
    failFirst(100, () => true);
    for (const ask of [() => bucket.read("a"), () => bucket.head("a"), () => bucket.list("").next()]) {
      await assert.rejects(ask(), { code: "ERR_STORE", sentence: "bucketFailed", message: /HTTP 404/ });
    }
  });

  it("is asked for in another way if the answer cannot say who has given it", async () => {
    failFirst(1, ({ method }) => method === "HEAD");
    assert.equal((await bucket.head("a"))?.bytes, 9);
    assert.deepEqual(
      stub.requests.map(({ method }) => method),
      ["HEAD", "GET"],
    );
  });
});
