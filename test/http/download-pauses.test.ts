import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { begin, file, size } from "../support/downloads.ts";
import { failsWith } from "../support/failures.ts";
import { MemorySink } from "../support/memory-sink.ts";
import { manyAtOnce } from "../support/opened.ts";
import { replyBytes } from "../support/servers.ts";

const lost = { code: "ERR_CONNECTION_LOST", outcome: null } as const;

describe("a download into a sink that is full for a while", () => {
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
