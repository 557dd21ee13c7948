import assert from "node:assert/strict";
import { readS3Url } from "../../../src/vault/s3/bucket-address.ts";
import { Bucket } from "../../../src/vault/s3/bucket.ts";
import { forTests } from "../../support/s3-servers.ts";
import { startServer } from "../../support/servers.ts";

describe("a bucket with listings that do not end", () => {
  it("does not list pages for ever that ask for each other in a circle", async () => {
    let asked = 0;
    const server = await startServer((_request, socket) => {
      const token = (asked++ % 3) + 1;
      const text = `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>${token}</NextContinuationToken></ListBucketResult>`;
      socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`);
    });
    const other = await Bucket.open(readS3Url(`s3://evidence?endpoint=${server.origin}`), forTests);
    const list = async (): Promise<void> => {
      for await (const page of other.list("a/")) {
        assert.deepEqual(page, []);
        assert.ok(asked < 20, "the listing ends");
      }
    };
    await assert.rejects(list(), { code: "ERR_STORE", sentence: "bucketFailed" });
    await other.close();
    await server.close();
  });

  const uploadLists: Readonly<Record<string, readonly [answer: string, requests: number]>> = {
    "it always has the same page": [
      "<ListMultipartUploadsResult><IsTruncated>true</IsTruncated><NextKeyMarker>a</NextKeyMarker></ListMultipartUploadsResult>",
      2,
    ],
    "it is another listing": ["<ListBucketResult></ListBucketResult>", 1],
  };
  for (const [why, [text, most]] of Object.entries(uploadLists)) {
    it(`takes an answer for no list of uploads if ${why}`, async () => {
      let asked = 0;
      const server = await startServer((_request, socket) => {
        asked += 1;
        // A listing that does not end by itself has to fail here.
        const status = asked > most ? "403 Forbidden" : "200 OK";
        socket.end(`HTTP/1.1 ${status}\r\ncontent-length: ${text.length}\r\n\r\n${text}`);
      });
      const other = await Bucket.open(readS3Url(`s3://evidence?endpoint=${server.origin}`), forTests);
      const failed = { code: "ERR_STORE", sentence: "bucketFailed" };
      await assert.rejects(other.endUploads("", Date.now()), failed);
      assert.equal(asked, most);
      await other.close();
      await server.close();
    });
  }
});
