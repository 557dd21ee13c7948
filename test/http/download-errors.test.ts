import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { setTimeout as sleep } from "node:timers/promises";
import { DimensionerError } from "../../src/errors/dimensioner-error.ts";
import { begin, cut, etag, file, read, rest, size } from "../support/downloads.ts";
import { failsWith } from "../support/failures.ts";
import { MemorySink } from "../support/memory-sink.ts";
import { closesAfterEach } from "../support/opened.ts";
import { reply, replyBytes, resetAfter } from "../support/servers.ts";

describe("a download with somebody who watches it, or a peer that goes away", function () {
  this.timeout(10_000);
  const opened = closesAfterEach();

  it("a body without length that is ended by a reset is not taken for whole", async () => {
    const { server, ends } = await begin(opened, (_, socket) =>
      resetAfter(socket, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n01234"),
    );
    await failsWith(ends, { code: "ERR_CONNECTION_LOST", outcome: null });
    assert.equal(server.requests.length, 4);
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
    let tries = 0;
    const count = (message: unknown): void => {
      const { host } = (message as { connectParams: { host: string } }).connectParams;
      tries += Number(server.origin.endsWith(host));
    };
    subscribe("undici:client:beforeConnect", count);
    try {
      await failsWith(transport.download(read, new MemorySink()), {
        code: "ERR_UNREACHABLE",
        retryable: true,
      });
    } finally {
      unsubscribe("undici:client:beforeConnect", count);
    }
    assert.equal(tries, 1);
  });

  it("a listener that throws ends it, and is not asked again", async () => {
    const { server, transport } = await begin(opened, (_, socket) => reply(socket, { body: file }));
    const onProgress = (): never => {
      throw new Error("the status could not be set");
    };
    await assert.rejects(transport.download(read, new MemorySink(), { onProgress }), /could not be set/);
    await transport.close();
    await server.allClosed();
    assert.equal(server.requests.length, 2);
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
