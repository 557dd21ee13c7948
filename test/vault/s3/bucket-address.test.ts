import assert from "node:assert/strict";
import { readS3Url } from "../../../src/vault/s3/bucket-address.ts";
import type { Environment } from "../../../src/vault/s3/credentials.ts";
import { readXml } from "../../../src/vault/s3/requests.ts";

describe("the address of a bucket", () => {
  const addresses: readonly (readonly [string, Environment, string, string])[] = [
    ["s3://evidence", {}, "https://evidence.s3.us-east-1.amazonaws.com", ""],
    ["s3://evidence/a/b c/", { AWS_REGION: "eu-west-1" }, "https://evidence.s3.eu-west-1.amazonaws.com", ""],
    ["s3://ev.id?region=eu-west-2", {}, "https://s3.eu-west-2.amazonaws.com", "/ev.id"],
    ["s3://evidence?endpoint=http://nas:9000", {}, "http://nas:9000", "/evidence"],
    ["s3://evidence?endpoint=https://nas/s3/", {}, "https://nas", "/s3/evidence"],
    ["s3://evidence?endpoint=https://r2.example&pathStyle=false", {}, "https://evidence.r2.example", ""],
    [
      "s3://evidence",
      { AWS_ENDPOINT_URL_S3: "http://a", AWS_ENDPOINT_URL: "http://b" },
      "http://a",
      "/evidence",
    ],
    ["s3://evidence", { AWS_ENDPOINT_URL: "http://b:1" }, "http://b:1", "/evidence"],
    // There are no host names below an IP address.
    ["s3://evidence?endpoint=http://10.0.0.5:9000&pathStyle=false", {}, "http://10.0.0.5:9000", "/evidence"],
    ["s3://evidence?endpoint=http://[::1]:9000&pathStyle=false", {}, "http://[::1]:9000", "/evidence"],
  ];
  for (const [text, environment, origin, basePath] of addresses) {
    it(`${text} with ${JSON.stringify(environment)} is at ${origin}${basePath}`, () => {
      const address = readS3Url(text, environment);
      assert.deepEqual([address.origin, address.basePath], [origin, basePath]);
    });
  }

  it("keeps the prefix as it is written, without slashes around it", () => {
    const { prefix, name } = readS3Url("s3://evidence/Dock 4/ü+%20/", {});
    assert.deepEqual([prefix, name], ["Dock 4/ü+%20", "s3://evidence/Dock 4/ü+%20"]);
  });

  for (const wrong of [
    "s3:evidence",
    "s3://",
    "s3:///a",
    "s3://-a",
    "s3://a b",
    "s3://key:secret@evidence/a",
    "s3://evidence/a/../b",
    "s3://evidence/a//b",
    "s3://evidence?secret=x",
    "s3://evidence?endpoint=ftp://a",
    "s3://evidence?endpoint=https://user:password@a",
    "s3://evidence?endpoint=nas",
  ]) {
    it(`is not ${wrong}`, () => {
      assert.throws(
        () => readS3Url(wrong, {}),
        (error: unknown) => {
          assert.ok(error instanceof Error && "sentence" in error);
          assert.equal(error.sentence, "bucketAddress");
          return !/password|secret/.test(error.message);
        },
      );
    });
  }
});

describe("the XML of an object store", () => {
  it("is read with its entities, comments and empty elements", () => {
    const text = '<?xml version="1.0"?>\n<!-- a --><a x="1"><b>1 &lt; &#50; &amp;&#x33;</b><c/>\n</a>';
    assert.deepEqual(readXml(text)?.children, [
      { name: "b", text: "1 < 2 &3", children: [] },
      { name: "c", text: "", children: [] },
    ]);
  });

  for (const wrong of [
    "",
    "text",
    "<a>",
    "<a></b>",
    "</a>",
    "<a/><b/>",
    "<a>".repeat(100_000),
    "<html><p></html>",
    // Long texts that a server might send to keep the reader busy for minutes.
    `<${"a".repeat(300_000)}`,
    "<a".repeat(150_000),
    "<!".repeat(150_000),
  ]) {
    it(`is not ${JSON.stringify(wrong.slice(0, 20))}`, () => {
      assert.equal(readXml(wrong), undefined);
    });
  }
});
