import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer as createProxy } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { isDimensionerError } from "../../../src/errors/dimensioner-error.ts";
import { sha256Of } from "../../../src/model/sha256.ts";
import { BucketFile } from "../../../src/vault/bucket/bucket-disk.ts";
import { readS3Url } from "../../../src/vault/s3/bucket-address.ts";
import { Bucket } from "../../../src/vault/s3/bucket.ts";
import { forTests, sourceOf } from "../../support/s3-servers.ts";
import { type BucketStub, type Fault, type StubRequest, startStub } from "../../support/s3-stub.ts";
import { closedPort, listen, startServer } from "../../support/servers.ts";
import { identity } from "../../support/tls.ts";
import { readWhole } from "../../../src/vault/packages/package-files.ts";

const content = Buffer.from("a picture");
/** Two parts. */
const large = randomBytes(8 * 1024 * 1024 + 5);

describe("a bucket that fails", () => {
  let stub: BucketStub;
  let bucket: Bucket;
  before(async () => {
    stub = await startStub();
    bucket = await Bucket.open(readS3Url(stub.url("")), forTests);
  });
  after(async () => {
    await bucket.close();
    await stub.close();
  });
  beforeEach(() => {
    stub.fault = () => undefined;
    stub.objects.clear();
    stub.uploads.clear();
    stub.requests.length = 0;
  });

  /** The first requests that fit have this fault. */
  function failFirst(
    times: number,
    fault: Fault,
    fits: (request: StubRequest) => boolean = () => true,
  ): void {
    let left = times;
    stub.fault = (request) => (fits(request) && left-- > 0 ? fault : undefined);
  }

  const passing: Readonly<Record<string, Fault>> = {
    "is too busy": { status: 503, code: "SlowDown" },
    "limits requests": { status: 429, code: "TooManyRequests" },
    "has an error of its own": { status: 500, code: "InternalError" },
    "is behind a gateway that does not reach it": { status: 502, code: "" },
    "writes the same object for another request": { status: 409, code: "ConditionalRequestConflict" },
    "breaks the connection": "reset",
    "answers nothing although it has stored the object": "lost",
  };
  for (const [what, fault] of Object.entries(passing)) {
    it(`is asked again if it ${what}`, async () => {
      failFirst(4, fault, ({ method }) => method === "PUT");
      assert.equal(await bucket.store("a", sourceOf(content), { isNew: true }), "stored");
      assert.ok(stub.requests.length >= 5);
      assert.equal(String(stub.objects.get("a")?.body), "a picture");
    });
  }

  const lasting: Readonly<Record<string, { fault: Fault; sentence: string; said: string }>> = {
    "it stays busy": { fault: { status: 503, code: "SlowDown" }, sentence: "bucketBusy", said: "SlowDown" },
    "access is denied": {
      fault: { status: 403, code: "AccessDenied" },
      sentence: "bucketDenied",
      said: "AccessDenied: said by the stub. Check the access key",
    },
    "there is no such bucket": {
      fault: { status: 404, code: "NoSuchBucket" },
      sentence: "bucketMissing",
      said: "no bucket evidence",
    },
    "the credentials have expired": {
      fault: { status: 400, code: "ExpiredToken" },
      sentence: "bucketExpired",
      said: "s3://evidence",
    },
    "the clocks differ": {
      fault: {
        status: 403,
        code: "RequestTimeTooSkewed",
        // The time at which it answers.
        get headers() {
          return { date: new Date(Date.now() + 3_600_000).toUTCString() };
        },
      },
      sentence: "bucketClock",
      said: "by about 60 min",
    },
    "the region is another one": {
      fault: { status: 301, code: "PermanentRedirect", headers: { "x-amz-bucket-region": "eu-west-1" } },
      sentence: "bucketRegion",
      said: "in the region eu-west-1",
    },
    "something is wrong that is not known": {
      fault: { status: 400, code: "Odd" },
      sentence: "bucketFailed",
      said: "Odd: said by the stub",
    },
    "the endpoint has the name of the bucket, too": {
      fault: { status: 404, code: "NoSuchKey" },
      sentence: "bucketMissing",
      said: "has no bucket evidence",
    },
    "it demands a header of what it is to protect": {
      fault: {
        status: 400,
        code: "InvalidRequest",
        message: "HTTP header is required for Put Object requests with Object Lock parameters",
      },
      sentence: "bucketFailed",
      said: "header is required",
    },
    "it protects the object that is to be replaced": {
      fault: { status: 403, code: "AccessDenied", message: "Object is WORM protected by Object Lock" },
      sentence: "bucketDenied",
      said: "Object is WORM protected",
    },
    "its quota is used up": {
      fault: { status: 403, code: "QuotaExceeded" },
      sentence: "bucketFull",
      said: "no room left for s3://evidence",
    },
    "its disks are full": {
      fault: { status: 507, code: "XMinioStorageFull" },
      sentence: "bucketFull",
      said: "XMinioStorageFull",
    },
    "it takes no more requests for now": {
      fault: { status: 429, code: "Throttled", message: "request quota exceeded" },
      sentence: "bucketBusy",
      said: "Try again later",
    },
    "no connection lasts": { fault: "reset", sentence: "bucketUnreachable", said: "127.0.0.1" },
  };
  for (const [when, { fault, sentence, said }] of Object.entries(lasting)) {
    it(`says what to do if ${when}`, async () => {
      failFirst(100, fault);
      await assert.rejects(bucket.store("a", sourceOf(content)), (error: unknown) => {
        assert.ok(isDimensionerError(error));
        assert.deepEqual([error.code, error.sentence], ["ERR_STORE", sentence]);
        assert.ok(error.message.includes(said), error.message);
        return true;
      });
      assert.equal(stub.objects.size, 0);
    });
  }

  /** A server that answers everything with this text. */
  async function withAnswers(text: string, act: (other: Bucket) => Promise<void>): Promise<void> {
    const server = await startServer((_request, socket) =>
      socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`),
    );
    const other = await Bucket.open(readS3Url(`s3://evidence?endpoint=${server.origin}`), forTests);
    try {
      await act(other);
    } finally {
      await other.close();
      await server.close();
    }
  }

  const withoutLock = [
    "Bucket is missing Object Lock Configuration",
    "Bucket is missing ObjectLockConfiguration",
    "bucket object lock not configured",
    "Object Lock is not enabled on this bucket.",
  ];
  for (const message of withoutLock) {
    it(`has no Object Lock if it says: ${message}`, async () => {
      failFirst(100, { status: 400, code: "InvalidRequest", message });
      const retainUntil = new Date(Date.now() + 60_000);
      await assert.rejects(bucket.store("a", sourceOf(content), { retainUntil }), {
        sentence: "bucketNoLock",
      });
    });
  }

  it("is reached through the environment's proxy, also one without a scheme, and one that is none is named", async () => {
    const asked: string[] = [];
    const proxy = createProxy(({ url = "" }, response) => {
      asked.push(url);
      response.writeHead(403).end();
    });
    proxy.listen(0, "127.0.0.1");
    await once(proxy, "listening");
    const { port } = proxy.address() as AddressInfo;
    const before = process.env["http_proxy"];
    try {
      process.env["http_proxy"] = `127.0.0.1:${port}`;
      const bucket = await Bucket.open(
        readS3Url("s3://evidence?endpoint=http://store.example:9000"),
        forTests,
      );
      await assert.rejects(bucket.list("").next(), { code: "ERR_STORE" });
      await bucket.close();
      assert.match(asked[0] ?? "", /^http:\/\/store\.example:9000\/evidence\?/);
      process.env["http_proxy"] = "no address";
      await assert.rejects(
        Bucket.open(readS3Url("s3://evidence?endpoint=http://store.example:9000"), forTests),
        {
          code: "ERR_CONFIG",
          message: /“http_proxy” is not valid: the proxy's address must start with http/,
        },
      );
    } finally {
      delete process.env["http_proxy"];
      Object.assign(process.env, before === undefined ? {} : { http_proxy: before });
      proxy.closeAllConnections();
      proxy.close();
    }
  });

  it("says so if it is a web server, or none at all", async () => {
    const page = await startServer((_request, socket) =>
      socket.end("HTTP/1.1 200 OK\r\n\r\n<html><p>Log in"),
    );
    const alert = await startServer((_request, socket) => socket.end(Buffer.from("15030300020246", "hex")));
    const words = "Client sent an HTTP request to an HTTPS server.";
    const refusing = await startServer((_request, socket) =>
      socket.end(`HTTP/1.1 400 Bad Request\r\ncontent-length: ${words.length}\r\n\r\n${words}`),
    );
    for (const [origin, sentence] of [
      [page.origin, "bucketFailed"],
      [alert.origin, "bucketOnlyTls"],
      [refusing.origin, "bucketOnlyTls"],
      [stub.origin.replace("http:", "https:"), "bucketNotTls"],
      [`http://127.0.0.1:${closedPort}`, "bucketUnreachable"],
    ]) {
      const other = await Bucket.open(readS3Url(`s3://evidence?endpoint=${origin}`), forTests);
      await assert.rejects(other.list("").next(), { code: "ERR_STORE", sentence });
      await other.close();
    }
    await Promise.all([page, alert, refusing].map((server) => server.close()));
  });

  const listings: Readonly<Record<string, string>> = {
    "it has other keys": "<Contents><Key>b/1</Key></Contents>",
    "its next page cannot be asked for": "<IsTruncated>true</IsTruncated>",
    "its next page is the same one":
      "<IsTruncated>true</IsTruncated><NextContinuationToken>1</NextContinuationToken>",
  };
  for (const [why, inner] of Object.entries(listings)) {
    it(`takes an answer for no listing if ${why}`, async () => {
      const listing = `<ListBucketResult>${inner}</ListBucketResult>`;
      await withAnswers(listing, async (other) => {
        const list = async (): Promise<void> => {
          for await (const page of other.list("a/")) {
            assert.deepEqual(page, []);
          }
        };
        await assert.rejects(list(), { code: "ERR_STORE", sentence: "bucketFailed" });
      });
    });
  }

  it("takes a page of the web for no listing, and stores nothing where it is the answer", async () => {
    await withAnswers("<html><p>Log in</p></html>", async (other) => {
      const failed = { code: "ERR_STORE", sentence: "bucketFailed" };
      await assert.rejects(other.list("").next(), failed);
      await assert.rejects(other.store("a", sourceOf(content), { isNew: true }), failed);
      await assert.rejects(other.store("a", sourceOf(large)), failed);
    });
  });

  it("stores an object whose type is nothing that a header can say", async () => {
    for (const [contentType, expected] of [
      ["image/jpeg; q=1", "image/jpeg; q=1"],
      ["image/jpeg\r\nx-amz-acl: public-read", "application/octet-stream"],
      ["image/–", "application/octet-stream"],
      ["", "application/octet-stream"],
      [`image/${"a".repeat(20_000)}`, "application/octet-stream"],
    ] as const) {
      assert.equal(await bucket.store("a", sourceOf(content), { contentType }), "stored");
      assert.equal(stub.objects.get("a")?.headers["content-type"], expected);
    }
  });

  it("does not read an answer to its end that is longer than any", async () => {
    const page = await startServer((_request, socket) =>
      socket.write(`HTTP/1.1 200 OK\r\n\r\n${"<a>".repeat(3 * 1024 * 1024)}`),
    );
    const other = await Bucket.open(readS3Url(`s3://evidence?endpoint=${page.origin}`), forTests);
    await assert.rejects(other.list("").next(), { code: "ERR_STORE", sentence: "bucketFailed" });
    await other.close();
    await page.close();
  });

  it("says how to make its certificate trusted", async () => {
    const server = createServer(identity("self-signed"));
    const port = await listen(server);
    const other = await Bucket.open(readS3Url(`s3://evidence?endpoint=https://127.0.0.1:${port}`), forTests);
    await assert.rejects(other.list("").next(), {
      sentence: "bucketTls",
      message: /: self-signed certificate\. .*NODE_EXTRA_CA_CERTS/,
    });
    await other.close();
    server.close();
  });

  it("does not read an object whose length it does not say", async () => {
    const head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n";
    const server = await startServer((_request, socket) => socket.end(head));
    const other = await Bucket.open(readS3Url(`s3://evidence?endpoint=${server.origin}`), forTests);
    await assert.rejects(other.read("a"), { code: "ERR_STORE", sentence: "bucketFailed" });
    await other.close();
    await server.close();
  });

  it("does not take another part of an object for the one that was asked for", async () => {
    for (const range of ["content-range: bytes 4-8/9\r\n", "content-range: bytes */9\r\n", ""]) {
      const head = `HTTP/1.1 206 Partial Content\r\n${range}content-length: 5\r\n\r\n`;
      const server = await startServer((_request, socket) => socket.end(`${head}cture`));
      const other = await Bucket.open(readS3Url(`s3://evidence?endpoint=${server.origin}`), forTests);
      await assert.rejects(other.read("a", 5), { code: "ERR_STORE", sentence: "bucketFailed" }, range);
      await other.close();
      await server.close();
    }
  });

  it("gets new credentials once if the old ones have expired", async () => {
    const dropped: unknown[] = [];
    const given = {
      get: async () => ({ accessKeyId: "a", secretAccessKey: "b" }),
      drop: (one: object) => dropped.push(one),
    };
    const other = await Bucket.open(readS3Url(stub.url("")), { ...forTests, credentials: given });
    failFirst(1, { status: 403, code: "ExpiredToken" });
    assert.equal(await other.store("a", sourceOf(content)), "stored");
    assert.equal(dropped.length, 1);
    await other.close();
  });

  const isComplete = ({ method, query }: StubRequest) => method === "POST" && query.has("uploadId");
  const uploads: Readonly<Record<string, readonly [number, Fault, (request: StubRequest) => boolean]>> = {
    "its answer at the end is lost": [1, "lost", isComplete],
    "its answer at the end is an error with the status 200": [
      2,
      { status: 200, code: "InternalError" },
      isComplete,
    ],
    "it no longer has a part at the end": [1, { status: 400, code: "InvalidPart" }, isComplete],
    "it breaks the connection in a part": [3, "reset", ({ query }) => query.get("partNumber") === "2"],
    "it has forgotten the upload at the end": [1, { status: 404, code: "NoSuchUpload" }, isComplete],
  };
  for (const [when, [times, fault, fits]] of Object.entries(uploads)) {
    it(`stores a large object once if ${when}`, async () => {
      failFirst(times, fault, fits);
      assert.equal(await bucket.store("a", sourceOf(large), { isNew: true }), "stored");
      assert.equal(sha256Of(stub.objects.get("a")?.body ?? ""), sha256Of(large));
      assert.equal(stub.uploads.size, 0);
    });
  }

  it("leaves no parts behind if a large object cannot be stored", async () => {
    failFirst(100, { status: 403, code: "AccessDenied" }, isComplete);
    await assert.rejects(bucket.store("a", sourceOf(large)), { sentence: "bucketDenied" });
    assert.deepEqual([stub.objects.size, stub.uploads.size], [0, 0]);
  });

  async function open(key: string): Promise<BucketFile> {
    const opened = await bucket.read(key);
    assert.ok(opened);
    return new BucketFile(bucket, key, opened);
  }
  const isRead = ({ method }: StubRequest) => method === "GET";

  it("is read on from where a connection broke", async () => {
    await bucket.store("a", sourceOf(large.subarray(0, 100_000)));
    failFirst(3, "cut", isRead);
    const file = await open("a");
    assert.equal(sha256Of((await readWhole(file, 100_000)) ?? ""), sha256Of(large.subarray(0, 100_000)));
    // Each broken response brought a half of what was missing.
    assert.deepEqual(
      stub.requests.filter(isRead).map(({ headers }) => headers.range),
      [undefined, "bytes=50000-", "bytes=75000-", "bytes=87500-"],
    );
    await file.close();
  });

  it("is not read on if the object was replaced meanwhile", async () => {
    await bucket.store("a", sourceOf(large.subarray(0, 100_000)));
    failFirst(1, "cut", isRead);
    const file = await open("a");
    await bucket.store("a", sourceOf(large.subarray(5, 100_005)));
    await assert.rejects(readWhole(file, 100_000), { code: "ERR_STORE", message: /replaced or deleted/ });
    await file.close();
  });

  it("ends with the reason of an abort, in a request and in a pause", async () => {
    for (const fault of ["reset", undefined] as const) {
      const aborting = new AbortController();
      const reason = new Error("stopped");
      const pauses = { ...forTests, firstPauseMs: 600_000, signal: aborting.signal };
      const other = await Bucket.open(readS3Url(stub.url("")), pauses);
      stub.fault = () => {
        setImmediate(() => aborting.abort(reason));
        return fault ?? new Promise(() => undefined);
      };
      await assert.rejects(other.head("a"), reason);
      await other.close();
    }
  });
});
