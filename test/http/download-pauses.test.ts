import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { DimensionerError } from "../../src/errors/dimensioner-error.ts";
import { begin } from "../support/downloads.ts";
import { manyAtOnce } from "../support/opened.ts";
import { replyBytes } from "../support/servers.ts";

/** A picture of several times the size of a body's buffer. */
const comments = Array.from({ length: 8 }, () =>
  Buffer.concat([Buffer.from("fffeffff", "hex"), Buffer.alloc(0xfffd, "p")]),
);
const large = Buffer.concat([Buffer.from("ffd8", "hex"), ...comments, Buffer.from("ffd9", "hex")]);
const size = large.length;

describe("a download whose body is not read for a while", () => {
  /** How much of the body is sent, and how the connection ends, while nothing is read. */
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
  // Without length or chunks, the end of the connection is the end of the body.
  const possible = rows.filter(([, { framing, ended }]) => framing !== "none" || !ended.includes("stays"));
  manyAtOnce(Object.fromEntries(possible), async ({ headers, framing, ended, whole, end }, rowOpened) => {
    const sockets = new Set<Socket>();
    const { begun } = await begin(rowOpened, (_, socket) => {
      const bytes = replyBytes({ headers, framing, body: large });
      socket.write(whole ? bytes : bytes.subarray(0, bytes.length - 5000));
      sockets.add(socket);
    });
    const { body } = await begun;
    // The connection ends while nothing is read.
    while (body.readableLength === 0) {
      await sleep(1);
    }
    [...sockets].forEach(end);
    await sleep(40);
    assert.ok(body.readableLength > 0 && body.readableLength < large.length, "it is paused");
    let failure: unknown;
    const got = await buffer(body).catch((error: unknown) => (failure = error));
    if (got instanceof Buffer) {
      assert.ok(whole && got.equals(large), "cut, but taken for whole");
    } else {
      // A reset discards what the client has not read yet; in all other cases the complete data arrive.
      assert.ok(!whole || ended.includes("reset"), "whole, but lost");
      assert.ok(failure instanceof DimensionerError);
      const code = framing === "none" ? /ERR_BAD_RESPONSE|ERR_CONNECTION_LOST/ : /ERR_CONNECTION_LOST/;
      assert.match(failure.code, code);
    }
  });
});
