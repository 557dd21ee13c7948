import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { inspect } from "node:util";
import { readS3Url } from "../../../src/vault/s3/bucket-address.ts";
import { type BucketOptions } from "../../../src/vault/s3/requests.ts";
import { Bucket, probeBucket } from "../../../src/vault/s3/bucket.ts";
import { sourceOf } from "../../../src/vault/s3/store-object.ts";
import { BucketDisk, BucketFile } from "../../../src/vault/bucket/bucket-disk.ts";
import { BucketVault, copyFile } from "../../../src/vault/bucket/bucket-vault.ts";
import { sha256Of } from "../../../src/model/sha256.ts";
import { FileHasher } from "../../../src/vault/file-hasher.ts";
import { forTests } from "../../support/s3-servers.ts";
import { startStub } from "../../support/s3-stub.ts";
import { startServer } from "../../support/servers.ts";
import { withFolder } from "../../media/support.ts";
import { readWhole } from "../../../src/vault/packages/package-files.ts";

type Reply = (target: string, socket: Socket) => void;

/** Opens a bucket of a server that answers in a way of its own. */
async function withBucket(
  reply: Reply,
  work: (bucket: Bucket, asked: readonly string[]) => Promise<void>,
  {
    path = "",
    options = {},
    onConnection,
  }: {
    readonly path?: string;
    readonly options?: BucketOptions;
    readonly onConnection?: (socket: Socket) => void;
  } = {},
): Promise<void> {
  const asked: string[] = [];
  const server = await startServer(
    (request, socket) => {
      asked.push(request.target);
      reply(request.target, socket);
    },
    onConnection === undefined ? {} : { onConnection },
  );
  const bucket = await Bucket.open(readS3Url(`s3://evidence?endpoint=${server.origin}${path}`), {
    ...forTests,
    ...options,
  });
  try {
    await work(bucket, asked);
  } finally {
    await bucket.close();
    await server.close();
  }
}

function answer(socket: Socket, body: string, status = "200 OK"): void {
  socket.write(`HTTP/1.1 ${status}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

async function keysOf(bucket: Bucket): Promise<string[]> {
  const keys: string[] = [];
  for await (const page of bucket.list("")) {
    keys.push(...page.map(({ key }) => key));
  }
  return keys;
}

/** Sends a text each 10 ms for as long as the connection is open. */
function drip(socket: Socket, head: string, text = "x"): void {
  socket.write(head);
  const timer = setInterval(() => socket.write(text), 10);
  socket.once("close", () => clearInterval(timer));
}

const bigHead = 'HTTP/1.1 200 OK\r\netag: "1"\r\ncontent-length: 100000000000\r\n\r\n';

describe("an object store that cannot be trusted", () => {
  const options = { answerMs: 300 };
  const slow = { code: "ERR_STORE", sentence: "bucketSlow", message: /within 0\.3 s/ };

  it("does not hold up whoever reads an answer of which a byte comes now and then", async () => {
    const head = "HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n";
    await withBucket(
      (_target, socket) => drip(socket, head),
      async (bucket, asked) => {
        await assert.rejects(keysOf(bucket), slow);
        const opened = await bucket.read("key");
        assert.ok(opened !== undefined);
        const file = new BucketFile(bucket, "key", opened);
        await assert.rejects(readWhole(file, 1_000_000), slow);
        await file.close();
        // It is not asked again and again.
        assert.equal(asked.length, 2);
      },
      { options },
    );
  });

  it("does not hold up whoever waits for an answer with provisional ones", async () => {
    await withBucket(
      (_target, socket) => drip(socket, "", "HTTP/1.1 102 Processing\r\n\r\n"),
      async (bucket) => assert.rejects(bucket.head("key"), slow),
      { options },
    );
  });

  it("does not hold up whoever reads an object if each request brings a byte", async () => {
    const content = "x".repeat(1_000);
    let from = 0;
    await withBucket(
      (_target, socket) => {
        const status = from === 0 ? "200 OK" : "206 Partial Content";
        const range = from === 0 ? "" : `content-range: bytes ${from}-999/1000\r\n`;
        socket.write(`HTTP/1.1 ${status}\r\netag: "1"\r\n${range}content-length: ${1_000 - from}\r\n\r\n`);
        socket.end(content.slice(from, from + 1));
        from += 1;
      },
      async (bucket, asked) => {
        const opened = await bucket.read("key");
        assert.ok(opened !== undefined);
        const file = new BucketFile(bucket, "key", opened);
        await assert.rejects(readWhole(file, 1_000_000), { code: "ERR_STORE" });
        await file.close();
        assert.equal(asked.length, 5);
      },
    );
  });

  it("has an object without end in place of a file: a verification does not read it", async () => {
    await withBucket(
      (_target, socket) => drip(socket, bigHead, "x".repeat(100_000)),
      async (bucket) => {
        const hasher = new FileHasher({ disk: new BucketDisk(bucket), mayUseThread: false });
        const found = await hasher.hash("/key", 1_000);
        assert.ok(typeof found === "object" && found.bytes === 100_000_000_000);
        assert.deepEqual(await hasher.read("/key", 100, 1_000), found);
      },
    );
  });

  it("has an object without end in place of one that a copy looks for: it is another one, and is not read", async () => {
    let asked = 0;
    await withBucket(
      (_target, socket) => {
        asked += 1;
        // The answer to HEAD, and to GET.
        if (asked === 1) {
          socket.write(bigHead);
        } else {
          drip(socket, bigHead, "x".repeat(100_000));
        }
      },
      async (bucket) => {
        const vault = new BucketVault(new BucketDisk(bucket), "/");
        assert.equal(await vault.sha256Of("/key", 1_000), "");
      },
    );
  });

  it("is given the time that a slow line takes for what it is sent", async () => {
    const bytes = 8_000_000;
    await withBucket(
      (_target, socket) => {
        const answerAtEnd = (): void => {
          if (socket.bytesRead > bytes) {
            socket.off("data", answerAtEnd);
            socket.write('HTTP/1.1 200 OK\r\netag: "1"\r\ncontent-length: 0\r\n\r\n');
          }
        };
        socket.on("data", answerAtEnd);
      },
      async (bucket) => assert.equal(await bucket.store("key", sourceOf(Buffer.alloc(bytes))), "stored"),
      {
        options,
        onConnection: (socket) =>
          socket.on("data", () => {
            socket.pause();
            setTimeout(() => socket.resume(), 20);
          }),
      },
    );
  });

  it("does not end a response that waits for its reader", async () => {
    const content = "x".repeat(300_000);
    await withBucket(
      (_target, socket) => answer(socket, content),
      async (bucket) => {
        const opened = await bucket.read("key");
        assert.ok(opened !== undefined);
        await new Promise((resolve) => setTimeout(resolve, 3 * options.answerMs));
        assert.equal((await buffer(opened.body)).length, content.length);
      },
      { options },
    );
  });

  const entry = (key: string): string =>
    `<Contents><Key>${key}</Key><Size>1</Size><LastModified>2026-11-22T09:00:00Z</LastModified></Contents>`;
  const listOf = (content: string, next = ""): string =>
    `<ListBucketResult><EncodingType>url</EncodingType>${
      next === ""
        ? ""
        : `<IsTruncated>true</IsTruncated><NextContinuationToken>${next}</NextContinuationToken>`
    }${content}</ListBucketResult>`;

  it("is not asked for pages without end, and an answer of millions of elements is none", async () => {
    let page = 0;
    await withBucket(
      (_target, socket) => answer(socket, listOf("", String((page += 1)))),
      async (bucket, asked) => {
        await assert.rejects(keysOf(bucket), {
          sentence: "bucketFailed",
          message: /its list of objects does not end/,
        });
        assert.ok(asked.length < 200, String(asked.length));
      },
    );
    const whole = Array.from({ length: 1_000 }, (_, index) => entry(`key-${index}`)).join("");
    await withBucket(
      (_target, socket) => answer(socket, listOf(whole)),
      async (bucket) => assert.equal((await keysOf(bucket)).length, 1_000),
    );
    const entities = `<a>${"&amp;".repeat(4_000)}</a>`.repeat(300);
    for (const many of ["<a/>".repeat(1_900_000), entities]) {
      await withBucket(
        (_target, socket) => answer(socket, listOf(many)),
        async (bucket) => {
          await assert.rejects(keysOf(bucket), { sentence: "bucketFailed", message: /compatible with S3/ });
        },
      );
    }
  });

  it("is said to be none if a text is longer than any that S3 would be sent again", async () => {
    await withBucket(
      (_target, socket) => answer(socket, listOf(entry("key"), "t".repeat(100_000))),
      async (bucket, asked) => {
        await assert.rejects(keysOf(bucket), { sentence: "bucketFailed", message: /compatible with S3/ });
        assert.equal(asked.length, 1);
      },
    );
  });

  it("repeats the session's token, which no sentence shows", async () => {
    const sessionToken = "session/47110==";
    const said = `${sessionToken} ${encodeURIComponent(sessionToken)} ${Buffer.from(sessionToken).toString("base64")}`;
    const error = `<Error><Code>AccessDenied</Code><Message>${said}</Message></Error>`;
    const given = { accessKeyId: "id", secretAccessKey: "key", sessionToken };
    const credentials = { get: async () => given, drop: () => undefined };
    await withBucket(
      (_target, socket) => answer(socket, error, "403 Forbidden"),
      async (bucket) =>
        assert.rejects(keysOf(bucket), { sentence: "bucketDenied", message: /AccessDenied: … … …\./ }),
      { options: { credentials } },
    );
  });

  it("names a region that is none: the sentence does not repeat it", async () => {
    const error = `<Error><Code>PermanentRedirect</Code><Region>${"r".repeat(5_000)}</Region></Error>`;
    await withBucket(
      (_target, socket) => answer(socket, error, "301 Moved Permanently"),
      async (bucket) => assert.rejects(keysOf(bucket), { sentence: "bucketFailed", message: /^.{1,400}$/ }),
    );
  });

  it("is said to be none if it writes keys that cannot be read, whatever the network is like", async () => {
    await withBucket(
      (_target, socket) => answer(socket, listOf(entry("%zz"))),
      async (bucket) => {
        await assert.rejects(keysOf(bucket), {
          sentence: "bucketFailed",
          message: /^(?!.*network).*compatible with S3/,
        });
      },
    );
  });

  it("may say in a refusal what was sent to it, which the error does not repeat", async () => {
    const credentials = {
      accessKeyId: "AKID-4711",
      secretAccessKey: "s3cr3t+key/1",
      sessionToken: "t0k3n==/of+session",
    };
    const chain = { get: async () => credentials, drop: () => undefined };
    for (const said of [
      credentials.sessionToken,
      encodeURIComponent(credentials.sessionToken),
      Buffer.from(`x:${credentials.secretAccessKey}`).toString("base64"),
    ]) {
      const body = `<Error><Code>AccessDenied</Code><Message>no ${said} for AKID-4711</Message></Error>`;
      await withBucket(
        (_target, socket) => answer(socket, body, "403 Forbidden"),
        async (bucket) => {
          await assert.rejects(keysOf(bucket), (error: Error) => {
            const all = inspect(error, { depth: null, showHidden: true });
            assert.ok(!all.includes(said.slice(4, -4)) && all.includes("AKID-4711"), all);
            return true;
          });
        },
        { options: { credentials: chain } },
      );
    }
  });

  for (const [what, keeps] of Object.entries({
    nothing: () => undefined,
    "no bytes": () => Buffer.alloc(0),
    "only the beginning": (body: Buffer) => body.subarray(0, body.length >> 1),
    "more than it was sent": (body: Buffer) => Buffer.concat([body, Buffer.from("\n")]),
  })) {
    it(`accepts a file and keeps ${what} of it: neither a package nor the test of the connection takes it for stored`, () =>
      withFolder(async (folder) => {
        const stub = await startStub();
        const bucket = await Bucket.open(readS3Url(stub.url("")), forTests);
        const { objects } = stub;
        const keep = objects.set.bind(objects);
        objects.set = (key, stored) => {
          const body = keeps(stored.body);
          return body === undefined ? objects : keep(key, { ...stored, body });
        };
        try {
          for (const bytes of [5_000, 9_000_000]) {
            const content = Buffer.alloc(bytes, 1);
            const file = join(folder, `${bytes}.mp4`);
            await writeFile(file, content);
            await assert.rejects(copyFile(file, bucket, file, { bytes, sha256: sha256Of(content) }, {}), {
              code: "ERR_STORE",
              message: /does not have it as it was sent/,
            });
          }
          await assert.rejects(probeBucket(bucket, "parcels/"), { code: "ERR_STORE" });
        } finally {
          await bucket.close();
          await stub.close();
        }
      }));
  }

  it("has the name of the bucket in its endpoint: the sentence says so", async () => {
    const error = "<Error><Code>NoSuchKey</Code></Error>";
    await withBucket(
      (_target, socket) => answer(socket, error, "404 Not Found"),
      async (bucket) => {
        await assert.rejects(keysOf(bucket), { sentence: "bucketTwice", message: /Remove the name/ });
      },
      { path: "/evidence" },
    );
    await withBucket(
      (_target, socket) => answer(socket, error, "404 Not Found"),
      async (bucket) => assert.rejects(keysOf(bucket), { sentence: "bucketMissing" }),
    );
  });

  it("refuses a retention without a reason, as Ceph does: the sentence says that the bucket has no Object Lock", async () => {
    await withBucket(
      (target, socket) =>
        target.includes("object-lock")
          ? answer(
              socket,
              "<Error><Code>ObjectLockConfigurationNotFoundError</Code></Error>",
              "404 Not Found",
            )
          : answer(socket, "<Error><Code>InvalidRequest</Code></Error>", "400 Bad Request"),
      async (bucket) => {
        const retainUntil = new Date(Date.now() + 86_400_000);
        await assert.rejects(bucket.store("key", sourceOf("x"), { retainUntil }), {
          code: "ERR_STORE",
          sentence: "bucketNoLock",
          message: /bucket evidence .*Object Lock/,
        });
        await assert.rejects(bucket.store("key", sourceOf("x")), { sentence: "bucketFailed" });
      },
    );
  });
});
