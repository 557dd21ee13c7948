import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { DimensionerError } from "../../src/errors.ts";
import type { Read } from "../../src/http/call.ts";
import { Transport } from "../../src/http/transport.ts";
import type { DownloadFacts } from "../../src/model/download.ts";
import { failsWith, type ExpectedFailure } from "../support/failures.ts";
import { MemorySink } from "../support/memory-sink.ts";
import { manyAtOnce, closesAfterEach, type Opened } from "../support/opened.ts";
import {
  reply,
  replyBytes,
  resetAfter,
  startServer,
  type Answer,
  type RawRequest,
  type RawServer,
} from "../support/servers.ts";

const lost = { code: "ERR_CONNECTION_LOST", outcome: null } as const;
const read: Read = { acts: false, operation: "media", method: "GET", path: "/media", query: "q=1" };

/** Two versions of one file: no byte of one stands at the same place in the other. */
const versions = ["first", "second"].map((name) => {
  const block = createHash("sha512").update(name).digest();
  return Buffer.concat(Array.from({ length: 512 }, () => block));
});
const [file, other] = [versions[0] ?? Buffer.alloc(0), versions[1] ?? Buffer.alloc(0)];
const size = file.length;

/** Announces the whole, sends a part and hangs up. */
function cut(socket: Socket, bytes: Buffer, at: number, headers: Record<string, string> = {}): void {
  const whole = replyBytes({ body: bytes, headers });
  socket.end(whole.subarray(0, whole.length - bytes.length + at));
}

function rest(socket: Socket, bytes: Buffer, from: number, headers: Record<string, string> = {}): void {
  const range = `bytes ${from}-${bytes.length - 1}/${bytes.length}`;
  reply(socket, { status: 206, headers: { "content-range": range, ...headers }, body: bytes.subarray(from) });
}

const from = (request: RawRequest): number =>
  Number(/^bytes=(\d+)-$/.exec(request.headers["range"] ?? "")?.[1]);

interface Run {
  readonly server: RawServer;
  readonly sink: MemorySink;
  readonly transport: Transport;
  readonly ends: Promise<DownloadFacts>;
}

async function begin(
  opened: Opened,
  answer: Answer,
  sink = new MemorySink(),
  timeoutMs = 5_000,
): Promise<Run> {
  const server = opened(await startServer(answer));
  const peer = { surface: "cloud", origin: server.origin, host: "cloud" } as const;
  const transport = opened(new Transport({ peer, timeoutMs }));
  return { server, sink, transport, ends: transport.download(read, sink) };
}

describe("a download is one version of the file, or an error", function () {
  this.timeout(10_000);
  const etag = { etag: '"v1"', "content-type": "Video/MP4; codecs=x" };
  interface Good {
    readonly answer: Answer;
    readonly requests?: number;
    readonly content?: Buffer;
    readonly facts?: Partial<DownloadFacts>;
  }
  const good: Readonly<Record<string, Good>> = {
    "with a length": {
      answer: (_, socket) => reply(socket, { body: file, headers: etag }),
      facts: { contentType: "video/mp4", framing: "length", bytes: size },
    },
    "in chunks": {
      answer: (_, socket) => reply(socket, { body: file, framing: "chunked" }),
      facts: { contentType: null, framing: "chunked", bytes: size },
    },
    "with neither, ended by the connection": {
      answer: (_, socket) => reply(socket, { body: file, framing: "none", headers: { "content-type": "" } }),
      facts: { contentType: null, framing: "close", bytes: size },
    },
    "of no bytes": {
      answer: (_, socket) => reply(socket, { body: "" }),
      content: Buffer.alloc(0),
      facts: { bytes: 0 },
    },
    "as 204": {
      answer: (_, socket) => reply(socket, { status: 204 }),
      content: Buffer.alloc(0),
      facts: { bytes: 0 },
    },
    "as a 206 that is the whole": {
      answer: (_, socket) => rest(socket, file, 0, etag),
      facts: { contentType: "video/mp4", framing: "length", bytes: size },
    },
    "as a 206 that is the whole, in chunks": {
      answer: (_, socket) =>
        reply(socket, {
          status: 206,
          headers: { "content-range": `bytes 0-${size - 1}/${size}` },
          body: file,
          framing: "chunked",
        }),
      facts: { framing: "length", bytes: size },
    },
    "as a 200 with the range of the whole": {
      answer: (_, socket) =>
        reply(socket, { headers: { "content-range": `bytes 0-${size - 1}/${size}` }, body: file }),
    },
    "with more bytes than announced": {
      answer: (_, socket) =>
        socket.end(Buffer.concat([replyBytes({ body: file }), Buffer.from("<- and this is more")])),
    },
    "cut and resumed with the same ETag": {
      answer: (request, socket) =>
        request.index === 0 ? cut(socket, file, 1000, etag) : rest(socket, file, from(request), etag),
      requests: 2,
      facts: { contentType: "video/mp4", framing: "length", bytes: size },
    },
    "cut at byte 1 and before the last": {
      answer: (request, socket) => {
        if (request.index === 0) {
          cut(socket, file, 1, etag);
        } else if (request.index === 1) {
          reply(socket, {
            status: 206,
            headers: {
              ...etag,
              "content-range": `bytes 1-${size - 1}/${size}`,
              "content-length": size - 1,
              connection: "close",
            },
            body: file.subarray(1, -1),
          });
          socket.end();
        } else {
          rest(socket, file, from(request), etag);
        }
      },
      requests: 3,
    },
    "cut ten times, each with new bytes": {
      answer: (request, socket) => {
        const at = request.index * 1000;
        if (request.index === 0) {
          cut(socket, file, 1000, etag);
        } else if (request.index < 10) {
          const range = `bytes ${at}-${size - 1}/${size}`;
          reply(socket, {
            status: 206,
            headers: { ...etag, "content-range": range, "content-length": size - at },
            body: file.subarray(at, at + 1000),
          });
          socket.end();
        } else {
          rest(socket, file, from(request), etag);
        }
      },
      requests: 11,
    },
    "cut, then another version: from its start": {
      answer: (request, socket) =>
        request.index === 0
          ? cut(socket, file, 1000, etag)
          : reply(socket, { body: other, headers: { etag: '"v2"' } }),
      requests: 2,
      content: other,
      facts: { contentType: null, bytes: size },
    },
    "cut, then a part of another version": {
      answer: (request, socket) => {
        if (request.index === 0) {
          cut(socket, file, 1000, etag);
        } else if (request.index === 1) {
          rest(socket, other, from(request), { etag: '"v2"' });
        } else {
          assert.equal(request.headers["range"], undefined);
          reply(socket, { body: other });
        }
      },
      requests: 3,
      content: other,
    },
    "cut, then a part that does not say of what": {
      answer: (request, socket) => {
        if (request.index === 0) {
          cut(socket, file, 1000, etag);
        } else if (request.index === 1) {
          rest(socket, other, from(request));
        } else {
          reply(socket, { body: other });
        }
      },
      requests: 3,
      content: other,
    },
    "cut, without a validator": {
      answer: (request, socket) => {
        assert.equal(request.headers["range"], undefined);
        if (request.index === 0) {
          cut(socket, file, 1000);
        } else {
          reply(socket, { body: other });
        }
      },
      requests: 2,
      content: other,
    },
    "cut, with a weak validator": {
      answer: (request, socket) => {
        assert.equal(request.headers["range"], undefined);
        if (request.index === 0) {
          cut(socket, file, 1000, { etag: 'W/"v1"' });
        } else {
          reply(socket, { body: other, headers: { etag: 'W/"v1"' } });
        }
      },
      requests: 2,
      content: other,
    },
    "cut, then the range is ignored": {
      answer: (request, socket) =>
        request.index === 0 ? cut(socket, file, 1000, etag) : reply(socket, { body: file, headers: etag }),
      requests: 2,
    },
    "cut, then a file that is shorter than what was there": {
      answer: (request, socket) =>
        request.index === 0
          ? cut(socket, file, 1000, etag)
          : reply(socket, { body: other.subarray(0, 10), headers: { etag: '"v2"' } }),
      requests: 2,
      content: other.subarray(0, 10),
    },
    "cut, then 416": {
      answer: (request, socket) => {
        if (request.index === 0) {
          cut(socket, file, 1000, etag);
        } else if (request.headers["range"] !== undefined) {
          reply(socket, { status: 416, headers: { "content-range": "bytes */10" } });
        } else {
          reply(socket, { body: other });
        }
      },
      requests: 3,
      content: other,
    },
    ...Object.fromEntries(
      [
        ["another start", `bytes 999-${size - 1}/${size}`],
        ["another end", `bytes 1000-${size - 2}/${size}`],
        ["another length", `bytes 1000-${size}/${size + 1}`],
        ["an unknown length", `bytes 1000-${size - 1}/*`],
        ["another unit", `lines 1000-${size - 1}/${size}`],
        ["nothing readable", "rubbish"],
      ].map(([name = "", range = ""]): [string, Good] => [
        `cut, then a Content-Range with ${name}`,
        {
          answer: (request, socket) => {
            if (request.index === 0) {
              cut(socket, file, 1000, etag);
            } else if (request.headers["range"] !== undefined) {
              rest(socket, file, 1000, { ...etag, "content-range": range });
            } else {
              reply(socket, { body: file });
            }
          },
          requests: 3,
        },
      ]),
    ),
    "503 twice, then there": {
      answer: (request, socket) =>
        request.index < 2 ? reply(socket, { status: 503 }) : reply(socket, { body: file }),
      requests: 3,
    },
    "reset in the middle of chunks": {
      answer: (request, socket) => {
        if (request.index === 0) {
          resetAfter(socket, replyBytes({ body: file, framing: "chunked", headers: etag }).subarray(0, 2000));
        } else if (request.headers["range"] === undefined) {
          reply(socket, { body: file });
        } else {
          rest(socket, file, from(request), etag);
        }
      },
      requests: 2,
    },
  };
  describe("whole", () => {
    manyAtOnce(good, async ({ answer, requests = 1, content = file, facts = {} }, opened) => {
      const { server, sink, ends } = await begin(opened, answer);
      const told = await ends;
      assert.ok(sink.content.equals(content), `${sink.bytes} bytes of ${content.length}`);
      assert.equal(server.requests.length, requests);
      assert.equal(told.bytes, content.length);
      assert.deepEqual({ ...told, ...facts }, told);
    });
  });

  const opened = closesAfterEach();

  it("asks for the rest with If-Range and the strong ETag, and for nothing else", async () => {
    const { server, ends } = await begin(opened, (request, socket) =>
      request.index === 0 ? cut(socket, file, 1000, etag) : rest(socket, file, 1000, etag),
    );
    await ends;
    const asked = server.requests.map(({ target, headers }) => [
      target,
      headers["range"],
      headers["if-range"],
    ]);
    assert.deepEqual(asked, [
      ["/media?q=1", undefined, undefined],
      ["/media?q=1", "bytes=1000-", '"v1"'],
    ]);
    assert.equal(server.requests[0]?.headers["accept-encoding"], "identity");
  });

  interface Bad extends ExpectedFailure {
    readonly answer: Answer;
    readonly requests?: number;
    readonly timeoutMs?: number;
  }
  const bad: Readonly<Record<string, Bad>> = {
    "a 206 that is a part": {
      code: "ERR_BAD_RESPONSE",
      answer: (_, socket) =>
        reply(socket, { status: 206, headers: { "content-range": "bytes 0-9/100" }, body: "0123456789" }),
    },
    "a 206 that is the end": {
      code: "ERR_BAD_RESPONSE",
      answer: (_, socket) => rest(socket, file, 10),
    },
    "a 206 without Content-Range": {
      code: "ERR_BAD_RESPONSE",
      answer: (_, socket) => reply(socket, { status: 206, body: file }),
    },
    "a 200 with a part": {
      code: "ERR_BAD_RESPONSE",
      answer: (_, socket) =>
        reply(socket, { headers: { "content-range": "bytes 0-9/100" }, body: "0123456789" }),
    },
    "a 206 that is shorter than it says": {
      code: "ERR_CONNECTION_LOST",
      answer: (_, socket) =>
        reply(socket, { status: 206, headers: { "content-range": `bytes 0-9/10` }, body: "01234" }),
      requests: 4,
    },
    "a 206 that is longer than it says": {
      code: "ERR_CONNECTION_LOST",
      answer: (_, socket) =>
        reply(socket, { status: 206, headers: { "content-range": `bytes 0-3/4` }, body: "01234" }),
      requests: 4,
    },
    "an encoding": {
      code: "ERR_BAD_RESPONSE",
      answer: (_, socket) => reply(socket, { headers: { "content-encoding": "gzip" }, body: file }),
    },
    "a redirect": {
      code: "ERR_HTTP",
      statusCode: 302,
      answer: (_, socket) => reply(socket, { status: 302, headers: { location: "/elsewhere" } }),
    },
    "404": {
      code: "ERR_NOT_FOUND",
      statusCode: 404,
      answer: (_, socket) => reply(socket, { status: 404 }),
    },
    "416 to a plain request": {
      code: "ERR_HTTP",
      statusCode: 416,
      answer: (_, socket) => reply(socket, { status: 416 }),
    },
    "503 for ever": {
      code: "ERR_HTTP",
      statusCode: 503,
      retryable: true,
      answer: (_, socket) => reply(socket, { status: 503 }),
      requests: 3,
    },
    "cut at byte 0 for ever": {
      code: "ERR_CONNECTION_LOST",
      answer: (_, socket) => cut(socket, file, 0, etag),
      requests: 3,
    },
    "cut at the same byte for ever": {
      code: "ERR_CONNECTION_LOST",
      answer: (request, socket) =>
        request.index === 0
          ? cut(socket, file, 1000, etag)
          : socket.end(
              replyBytes({
                status: 206,
                headers: {
                  ...etag,
                  "content-range": `bytes 1000-${size - 1}/${size}`,
                  "content-length": size - 1000,
                },
              }),
            ),
      requests: 4,
    },
    "cut at the same byte for ever, from the start each time": {
      code: "ERR_CONNECTION_LOST",
      answer: (_, socket) => cut(socket, file, 1000),
      requests: 4,
    },
    silence: { code: "ERR_TIMEOUT", timeoutMs: 150, answer: () => undefined },
    "a head, then silence": {
      code: "ERR_TIMEOUT",
      timeoutMs: 150,
      answer: (_, socket) => socket.write(replyBytes({ body: file }).subarray(0, 60)),
    },
    "silence in the middle": {
      code: "ERR_TIMEOUT",
      timeoutMs: 150,
      answer: (_, socket) => socket.write(replyBytes({ body: file, headers: etag }).subarray(0, 5000)),
    },
    "not HTTP": {
      code: "ERR_BAD_RESPONSE",
      answer: (_, socket) => socket.end("220 ftp.example ready\r\n"),
    },
    "a broken chunk": {
      code: "ERR_BAD_RESPONSE",
      answer: (_, socket) => socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
    },
    "a head of 1 MB": {
      code: "ERR_BAD_RESPONSE",
      answer: (_, socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${"x".repeat(1e6)}\r\n\r\n`),
    },
    "a body without length, ended by a reset": {
      code: "ERR_CONNECTION_LOST",
      answer: (_, socket) => resetAfter(socket, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n01234"),
      requests: 4,
    },
  };
  describe("error", () => {
    manyAtOnce(bad, async ({ answer, requests = 1, timeoutMs, ...expected }, opened) => {
      const { server, ends } = await begin(opened, answer, new MemorySink(), timeoutMs);
      const url = `${server.origin}/media`;
      await failsWith(ends, { surface: "cloud", operation: "media", outcome: null, url, ...expected });
      assert.equal(server.requests.length, requests);
    });
  });

  it("goes on for as long as a byte comes in time", async () => {
    const short = file.subarray(0, 60);
    const { ends, sink } = await begin(
      opened,
      async (_, socket) => {
        socket.write(replyBytes({ headers: { "content-length": short.length } }));
        for (const byte of short) {
          socket.write(Uint8Array.of(byte));
          await sleep(15);
        }
      },
      new MemorySink(),
      400,
    );
    const since = performance.now();
    await ends;
    assert.ok(performance.now() - since > 600, "longer than the limit for silence");
    assert.ok(sink.content.equals(short));
  });

  it("goes on after the peer was away for a moment", async () => {
    let away: Promise<void> | undefined;
    const { server, transport } = await begin(opened, (_, socket) => cut(socket, file, 1000, etag));
    const sink = new MemorySink();
    const ends = transport.download(read, sink, {
      onProgress: () => {
        away ??= server.close();
      },
    });
    await failsWith(ends, { code: "ERR_UNREACHABLE", outcome: null });
    assert.equal(sink.bytes, 1000);
  });

  it("does not ask again where nothing was ever reached", async () => {
    const { server, transport, ends } = await begin(opened, (_, socket) => reply(socket, { body: file }));
    await ends;
    await server.close();
    const since = performance.now();
    await failsWith(transport.download(read, new MemorySink()), { code: "ERR_UNREACHABLE", retryable: true });
    assert.ok(performance.now() - since < 150);
  });

  it("a listener that throws ends it, and is not asked again", async () => {
    const { server, transport } = await begin(opened, (_, socket) => reply(socket, { body: file }));
    const onProgress = (): never => {
      throw new Error("the status could not be set");
    };
    await assert.rejects(transport.download(read, new MemorySink(), { onProgress }), /could not be set/);
    await server.allClosed();
    assert.ok(server.requests.length <= 2);
  });

  it("an error of the sink ends it with that error", async () => {
    const { transport, ends } = await begin(opened, (request, socket) =>
      request.index === 0
        ? reply(socket, { body: file })
        : socket.write(replyBytes({ body: file }).subarray(0, 99)),
    );
    await ends;
    const sink = new MemorySink();
    const full = new DimensionerError("fileFull", { surface: "disk", operation: "media" }, { path: "x" });
    sink.isFull = () => {
      setImmediate(() => sink.onError?.(full));
      return true;
    };
    await assert.rejects(transport.download(read, sink), full);
  });

  it("tells how far it is", async () => {
    const { transport } = await begin(opened, (request, socket) => {
      if (request.index === 1) {
        cut(socket, file, 1000, etag);
      } else if (request.index === 2) {
        rest(socket, file, 1000, etag);
      } else {
        reply(socket, { body: file, framing: "chunked" });
      }
    });
    const known: [number, number | null][] = [];
    await transport.download(read, new MemorySink(), { onProgress: (...told) => known.push(told) });
    assert.deepEqual(known.at(-1), [size, size]);
    assert.ok(known.every(([done], at) => done > (known[at - 1]?.[0] ?? 0)));
    const unknown: [number, number | null][] = [];
    await transport.download(read, new MemorySink(), { onProgress: (...told) => unknown.push(told) });
    assert.deepEqual(unknown.at(-1), [size, null]);
  });

  describe("into a sink that is full for a while", () => {
    /** What is sent of the body, and how the connection ends, while nothing is taken. */
    const endings = {
      "the connection stays": { whole: true, end: () => undefined },
      "the connection is closed after the whole": { whole: true, end: (socket: Socket) => socket.end() },
      "the connection is reset after the whole": {
        whole: true,
        end: (socket: Socket) => socket.resetAndDestroy(),
      },
      "the connection is closed in the middle": { whole: false, end: (socket: Socket) => socket.end() },
      "the connection is reset in the middle": {
        whole: false,
        end: (socket: Socket) => socket.resetAndDestroy(),
      },
    };
    const framings = {
      "a length": { headers: { "content-length": size }, framing: "length" },
      "a length, not kept alive": {
        headers: { "content-length": size, connection: "close" },
        framing: "length",
      },
      chunks: { headers: {}, framing: "chunked" },
      "chunks, not kept alive": { headers: { connection: "close" }, framing: "chunked" },
      neither: { headers: { connection: "close" }, framing: "none" },
    } as const;
    const rows = Object.entries(framings).flatMap(([framed, { headers, framing }]) =>
      Object.entries(endings).map(
        ([ended, { whole, end }]) =>
          [`with ${framed}, ${ended}`, { headers, framing, ended, whole, end }] as const,
      ),
    );
    // Without length or chunks only the end of the connection ends the body.
    const possible = rows.filter(([, { framing, ended }]) => framing !== "none" || !ended.includes("stays"));
    manyAtOnce(Object.fromEntries(possible), async ({ headers, framing, ended, whole, end }, rowOpened) => {
      const sockets = new Set<Socket>();
      const sink = new MemorySink();
      let pauses = 0;
      sink.isFull = () => {
        pauses++;
        // The end of the connection arrives while nothing is read.
        setTimeout(() => {
          [...sockets].forEach(end);
          sockets.clear();
        }, 20);
        setTimeout(() => sink.onDrain?.(), 60);
        return true;
      };
      const { ends } = await begin(
        rowOpened,
        (_, socket) => {
          const bytes = replyBytes({ headers, framing, body: file });
          socket.write(whole ? bytes : bytes.subarray(0, bytes.length - 5000));
          sockets.add(socket);
        },
        sink,
      );
      const result = await ends.catch(() => failsWith(ends, lost));
      assert.ok(pauses > 0);
      if ("code" in result) {
        // A reset throws away what the client has not read yet; all else that is whole arrives.
        assert.ok(!whole || ended.includes("reset"), "whole, but lost");
      } else {
        const got = sink.content;
        assert.ok(whole || framing === "none", "cut, but taken for whole");
        assert.ok(got.equals(file.subarray(0, got.length)) && (!whole || got.length === size));
      }
    });
  });
});
