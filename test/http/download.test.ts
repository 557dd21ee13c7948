import assert from "node:assert/strict";
import type { DownloadFacts } from "../../src/model/download.ts";
import { begin, cut, etag, file, from, other, rest, size } from "../support/downloads.ts";
import { closesAfterEach, manyAtOnce } from "../support/opened.ts";
import { reply, replyBytes, resetAfter, type Answer } from "../support/servers.ts";

describe("a download is one version of the file", function () {
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
});
