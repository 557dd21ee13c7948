import assert from "node:assert/strict";
import type { DownloadFacts } from "../../src/model/download.ts";
import { begin, cut, etag, file, other, rest, size } from "../support/downloads.ts";
import { closesAfterEach, manyAtOnce } from "../support/opened.ts";
import { reply, type Answer } from "../support/servers.ts";

describe("a download and what it says of itself", function () {
  this.timeout(10_000);
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
    "cut, then a file that is shorter than what was there": {
      answer: (request, socket) =>
        request.index === 0
          ? cut(socket, file, 1000, etag)
          : reply(socket, { body: other.subarray(0, 10), headers: { etag: '"v2"' } }),
      requests: 2,
      content: other.subarray(0, 10),
    },
  };
  describe("in one way or another", () => {
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
});
