import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { finished } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { startDownload } from "../../src/http/download.ts";
import { begin, cut, etag, file, read, rest, size } from "../support/downloads.ts";
import { failsWith } from "../support/failures.ts";
import { readBody } from "../support/read-body.ts";
import { closesAfterEach } from "../support/opened.ts";
import { reply, replyBytes, resetAfter } from "../support/servers.ts";

describe("a download with somebody who watches it, or a peer that goes away", () => {
  const opened = closesAfterEach();

  it("a body without length that is ended by a reset is not taken for whole", async () => {
    const { server, begun } = await begin(opened, (_, socket) =>
      resetAfter(socket, Buffer.concat([replyBytes({ framing: "none", body: file.subarray(0, 1000) })])),
    );
    await failsWith(readBody(begun), { code: "ERR_BAD_RESPONSE", outcome: null });
    assert.equal(server.requests.length, 1);
  });

  it("goes on for as long as a byte comes in time", async () => {
    const short = file.subarray(0, 60);
    const { begun } = await begin(
      opened,
      async (_, socket) => {
        socket.write(replyBytes({ headers: { "content-length": short.length } }));
        for (const byte of short) {
          socket.write(Uint8Array.of(byte));
          await sleep(15);
        }
      },
      400,
    );
    const since = performance.now();
    const content = await readBody(begun);
    assert.ok(performance.now() - since > 600, "longer than the limit for silence");
    assert.ok(content.equals(short));
  });

  it("tries again when the peer was away for a moment, and says so when it stays away", async () => {
    const { server, begun } = await begin(opened, (_, socket) => cut(socket, file, 1000, etag));
    const { body } = await begun;
    let bytes = 0;
    body.on("data", (chunk: Buffer) => (bytes += chunk.length));
    await once(body, "data");
    await server.close();
    await failsWith(finished(body), { code: "ERR_UNREACHABLE", outcome: null });
    assert.equal(bytes, 1000);
  });

  it("does not ask again where nothing was ever reached", async () => {
    const { server, transport, begun } = await begin(opened, (_, socket) => reply(socket, { body: file }));
    await readBody(begun);
    await server.close();
    let tries = 0;
    const count = (message: unknown): void => {
      const { host } = (message as { connectParams: { host: string } }).connectParams;
      tries += Number(server.origin.endsWith(host));
    };
    subscribe("undici:client:beforeConnect", count);
    try {
      await failsWith(readBody(startDownload(transport, read, "medium")), {
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
