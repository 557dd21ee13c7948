import assert from "node:assert/strict";
import type { Download } from "../../src/model/download.ts";
import { begin, cut, etag, file, other, readWhole, rest, size } from "../support/downloads.ts";
import { closesAfterEach, manyAtOnce } from "../support/opened.ts";
import { readBody } from "../support/read-body.ts";
import { reply, type Answer } from "../support/servers.ts";

describe("a download and what it says of itself", () => {
  interface Good {
    readonly answer: Answer;
    readonly requests?: number;
    readonly content?: Buffer;
    readonly facts?: Partial<Download>;
  }
  const good: Readonly<Record<string, Good>> = {
    "with a length": {
      answer: (_, socket) => reply(socket, { body: file, headers: etag }),
      facts: { contentType: "video/mp4", framing: "length", contentLength: size },
    },
    "in chunks": {
      answer: (_, socket) => reply(socket, { body: file, framing: "chunked" }),
      facts: { contentType: null, framing: "chunked", contentLength: null },
    },
    "with neither, ended by the connection": {
      answer: (_, socket) => reply(socket, { body: file, framing: "none", headers: { "content-type": "" } }),
      facts: { contentType: null, framing: "close", contentLength: null },
    },
    "of no bytes": {
      answer: (_, socket) => reply(socket, { body: "" }),
      content: Buffer.alloc(0),
      facts: { contentLength: 0 },
    },
    "as 204": {
      answer: (_, socket) => reply(socket, { status: 204 }),
      content: Buffer.alloc(0),
      facts: { contentLength: null },
    },
    "as a 206 that is the whole, in chunks": {
      answer: (_, socket) =>
        reply(socket, {
          status: 206,
          headers: { "content-range": `bytes 0-${size - 1}/${size}` },
          body: file,
          framing: "chunked",
        }),
      facts: { framing: "length", contentLength: size },
    },
    "cut, then a file that is shorter than what was there": {
      answer: (request, socket) =>
        request.index === 0
          ? cut(socket, file, 1000, etag)
          : reply(socket, { body: other.subarray(0, 10), headers: { etag: '"v2"' } }),
      requests: 3,
      content: other.subarray(0, 10),
    },
  };
  describe("in one way or another", () => {
    manyAtOnce(good, async ({ answer, requests = 1, content = file, facts = {} }, opened) => {
      const { server, begun } = await begin(opened, answer);
      const got = await readWhole(begun);
      assert.ok(got.content.equals(content), `${got.content.length} bytes of ${content.length}`);
      assert.equal(server.requests.length, requests);
      const { contentType, contentLength, framing } = got.download;
      const told = { contentType, contentLength, framing };
      assert.deepEqual({ ...told, ...facts }, told);
    });
  });

  const opened = closesAfterEach();

  it("asks for the rest with If-Range and the strong ETag, and for nothing else", async () => {
    const { server, begun } = await begin(opened, (request, socket) =>
      request.index === 0 ? cut(socket, file, 1000, etag) : rest(socket, file, 1000, etag),
    );
    await readBody(begun);
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
