import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { DimensionerError } from "../../src/errors.ts";
import { begin, cut, etag, file, read, rest, size } from "../support/downloads.ts";
import { failsWith, type ExpectedFailure } from "../support/failures.ts";
import { MemorySink } from "../support/memory-sink.ts";
import { closesAfterEach, manyAtOnce } from "../support/opened.ts";
import { reply, replyBytes, resetAfter, type Answer } from "../support/servers.ts";

describe("a download that is no version of the file is an error", function () {
  this.timeout(10_000);
  const opened = closesAfterEach();

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
});
