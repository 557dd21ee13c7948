import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { type Socket, createServer } from "node:net";
import { finished } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { CommandQueues } from "../../src/http/command-queue.ts";
import { startDownload } from "../../src/http/download.ts";
import { Transport, defaultQueueRules } from "../../src/http/transport.ts";
import { begin, cut, etag, file, read, rest, size } from "../support/downloads.ts";
import { failsWith } from "../support/failures.ts";
import { closesAfterEach } from "../support/opened.ts";
import { readBody } from "../support/read-body.ts";
import { freePort, listen, reply, replyBytes, resetAfter } from "../support/servers.ts";

describe("a download with somebody who watches it, or a peer that goes away", () => {
  const opened = closesAfterEach();

  /** Downloads from a port that nobody else is given while nothing listens on it any more. */
  async function beginOnFreePort(answer: (socket: Socket) => void) {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket.on("error", () => socket.destroy()));
      socket.once("data", () => answer(socket));
    });
    const port = await listen(server, await freePort());
    const peer = { surface: "cloud", origin: `http://127.0.0.1:${port}`, host: "cloud" } as const;
    const queues = new CommandQueues();
    const transport = opened(new Transport({ peer, timeoutMs: 60_000, queues, ...defaultQueueRules }));
    return opened({
      port,
      start: () => startDownload(transport, read, "medium"),
      async close() {
        const closed = new Promise((resolve) => server.close(resolve));
        sockets.forEach((socket) => socket.destroy());
        await closed;
      },
    });
  }

  it("a body without length that is ended by a reset is not taken for whole", async () => {
    const { server, begun } = await begin(opened, (_, socket) =>
      resetAfter(socket, Buffer.concat([replyBytes({ framing: "none", body: file.subarray(0, 1000) })])),
    );
    await failsWith(readBody(begun), { code: "ERR_BAD_RESPONSE", outcome: null });
    assert.equal(server.requests.length, 1);
  });

  it("ends where a byte comes now and then, and where each connection brings one", async () => {
    const limitMs = 400;
    let sent = 0;
    const dripping = await begin(
      opened,
      async (_, socket) => {
        socket.write(replyBytes({ headers: { "content-length": file.length } }));
        for (; !socket.destroyed; sent += 1) {
          socket.write(Uint8Array.of(sent));
          await sleep(20);
        }
      },
      limitMs,
    );
    await failsWith(readBody(dripping.begun), { code: "ERR_TIMEOUT" });
    assert.ok(sent < file.length / 10, `${sent} bytes`);
    const etag = { etag: '"1"' };
    const breaking = await begin(opened, ({ headers }, socket) => {
      const from = Number(/\d+/.exec(headers["range"] ?? "0")?.[0]);
      const range = `bytes ${from}-${file.length - 1}/${file.length}`;
      const given = { ...etag, "content-length": file.length - from };
      const head =
        from === 0 ? { headers: given } : { status: 206, headers: { ...given, "content-range": range } };
      socket.end(Buffer.concat([replyBytes(head), file.subarray(from, from + 1)]));
    });
    await failsWith(readBody(breaking.begun), { code: "ERR_CONNECTION_LOST" });
    assert.equal(breaking.server.requests.length, 4);
  });

  it("goes on for as long as enough comes in time", async () => {
    const limitMs = 400;
    const short = file.subarray(0, 2_400);
    let content: Buffer | null = null;
    while (content === null) {
      let [lastAt, longestGapMs] = [performance.now(), 0];
      const write = (socket: Socket, bytes: Uint8Array): void => {
        longestGapMs = Math.max(longestGapMs, performance.now() - lastAt);
        lastAt = performance.now();
        socket.write(bytes);
      };
      const { begun } = await begin(
        opened,
        async (_, socket) => {
          write(socket, replyBytes({ headers: { "content-length": short.length } }));
          for (let at = 0; at < short.length; at += 40) {
            write(socket, short.subarray(at, at + 40));
            await sleep(15);
          }
        },
        limitMs,
      );
      const since = performance.now();
      content = await readBody(begun).catch((error: unknown) => {
        // Where something has held up this process, which is both sides, no byte came in time: then once more.
        if (Math.max(longestGapMs, performance.now() - lastAt) < limitMs / 2) {
          throw error;
        }
        return null;
      });
      assert.ok(content === null || performance.now() - since > 600, "longer than the limit for silence");
    }
    assert.ok(content.equals(short));
  });

  it("tries again when the peer was away for a moment, and says so when it stays away", async () => {
    const { close, start } = await beginOnFreePort((socket) => cut(socket, file, 1000, etag));
    const { body } = await start();
    let bytes = 0;
    body.on("data", (chunk: Buffer) => (bytes += chunk.length));
    await once(body, "data");
    await close();
    await failsWith(finished(body), { code: "ERR_UNREACHABLE", outcome: null });
    assert.equal(bytes, 1000);
  });

  it("does not ask again where nothing was ever reached", async () => {
    const { port, close, start } = await beginOnFreePort((socket) => reply(socket, { body: file }));
    await readBody(start());
    await close();
    let tries = 0;
    const count = (message: unknown): void => {
      const { host } = (message as { connectParams: { host: string } }).connectParams;
      tries += Number(host === `127.0.0.1:${port}`);
    };
    subscribe("undici:client:beforeConnect", count);
    try {
      await failsWith(readBody(start()), {
        code: "ERR_UNREACHABLE",
        retryable: true,
      });
    } finally {
      unsubscribe("undici:client:beforeConnect", count);
    }
    assert.equal(tries, 1);
  });

  it("a listener that throws ends it, and is not asked again", async () => {
    const { server, transport, begun } = await begin(opened, (_, socket) => reply(socket, { body: file }));
    await readBody(begun);
    const onProgress = (): never => {
      throw new Error("the status could not be set");
    };
    const download = startDownload(transport, read, "medium", { onProgress });
    await assert.rejects(readBody(download), /could not be set/);
    await transport.close();
    await server.allClosed();
    assert.equal(server.requests.length, 2);
  });

  it("tells how far it is", async () => {
    const { transport, begun } = await begin(opened, (request, socket) => {
      if (request.index === 1) {
        cut(socket, file, 1000, etag);
      } else if (request.index === 2) {
        rest(socket, file, 1000, etag);
      } else {
        reply(socket, { body: file, framing: "chunked" });
      }
    });
    await readBody(begun);
    const known: [number, number | null][] = [];
    await readBody(startDownload(transport, read, "medium", { onProgress: (...told) => known.push(told) }));
    assert.deepEqual(known.at(-1), [size, size]);
    assert.ok(known.every(([done], at) => done > (known[at - 1]?.[0] ?? 0)));
    const unknown: [number, number | null][] = [];
    await readBody(startDownload(transport, read, "medium", { onProgress: (...told) => unknown.push(told) }));
    assert.deepEqual(unknown.at(-1), [size, null]);
  });
});
