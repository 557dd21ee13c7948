import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { startDownload } from "../../src/http/download.ts";
import { DimensionerError, type Download, readToBuffer, saveToFile } from "../../src/index.ts";
import * as internal from "../../src/media/save-to-file.ts";
import { untilListed, watchedDisk } from "../media/support.ts";
import { begin, cut, etag, file, read, rest } from "../support/downloads.ts";
import { failsWith } from "../support/failures.ts";
import { closesAfterEach } from "../support/opened.ts";
import { readBody } from "../support/read-body.ts";
import { reply, replyBytes } from "../support/servers.ts";

const large = Buffer.alloc(8_000_000, "dimensioner\0");
const sendLarge = (_: unknown, socket: Socket): void => reply(socket, { body: large });

describe("the body of a download", () => {
  const opened = closesAfterEach();

  it("is a standard Readable of bytes, and can be made a web stream", async () => {
    const { begun, transport } = await begin(opened, (_, socket) =>
      reply(socket, { body: file, headers: etag }),
    );
    const download = await begun;
    assert.ok(download.body instanceof Readable);
    const { contentType, contentLength, framing, suggestedName, source } = download;
    assert.deepEqual(
      { contentType, contentLength, framing, suggestedName },
      { contentType: "video/mp4", contentLength: file.length, framing: "length", suggestedName: "medium" },
    );
    assert.deepEqual([source.surface, source.operation, source.host], ["cloud", "media", "cloud"]);
    assert.match(source.url ?? "", /^http:\/\/127\.0\.0\.1:\d+\/media$/);
    const web = Readable.toWeb((await startDownload(transport, read, "medium")).body);
    assert.ok((await buffer(web)).equals(await buffer(download.body)));
  });

  it("makes the peer wait for a slow reader, and keeps little", async () => {
    let written = 0;
    const { begun } = await begin(opened, (_, socket) => {
      socket.write(replyBytes({ headers: { "content-length": 100_000_000 } }));
      const send = (): void => {
        while (written < 100_000_000) {
          written += 100_000;
          if (!socket.write(Buffer.alloc(100_000))) {
            return void socket.once("drain", send);
          }
        }
      };
      send();
    });
    const { body } = await begun;
    while (body.readableLength === 0) {
      await sleep(1);
    }
    await sleep(200);
    const [sent, kept] = [written, body.readableLength];
    // The buffers of the systems on both sides are not counted.
    assert.ok(sent < 30_000_000, `${sent} bytes`);
    assert.ok(kept > 0 && kept < 300_000, `${kept} bytes`);
    let got = 0;
    for await (const chunk of body) {
      assert.ok(chunk instanceof Uint8Array);
      got += chunk.length;
    }
    assert.equal(got, 100_000_000);
  });

  const leavings = {
    "is destroyed unread": (body: Readable) => body.destroy(),
    "is destroyed after a part of it": async (body: Readable) => {
      await once(body, "readable");
      body.read(1000);
      body.destroy();
    },
    "is left in the middle of a loop": async (body: Readable) => {
      for await (const _ of body) {
        break;
      }
    },
    "goes into a pipeline that fails": (body: Readable) =>
      pipeline(body, async function* () {
        yield "";
        throw new Error("no room");
      }).catch(() => undefined),
  };
  for (const [how, leave] of Object.entries(leavings)) {
    it(`ends its connection at once when it ${how}`, async () => {
      const { server, begun } = await begin(opened, sendLarge);
      const { body } = await begun;
      const since = performance.now();
      await leave(body);
      await server.allClosed();
      assert.ok(performance.now() - since < 30_000, "long before its time limit");
      assert.equal(server.requests.length, 1);
    });
  }

  it("fails when nobody reads it for as long as a byte may take, and its connection ends", async () => {
    const since = performance.now();
    const { server, transport, begun } = await begin(opened, sendLarge, 3_000);
    // On a computer that stands still for a while, the same limit ends it before it has begun: then once more.
    const late = new Set<unknown>(["ERR_UNREACHABLE", "ERR_TIMEOUT"]);
    const again = async (error: unknown): Promise<Download> => {
      if (!(error instanceof DimensionerError && late.has(error.code))) {
        throw error;
      }
      return startDownload(transport, read, "medium").catch(again);
    };
    const { body } = await begun.catch(again);
    await server.allClosed();
    const took = performance.now() - since;
    assert.ok(took >= 2_999, `${took} ms`);
    await failsWith(buffer(body), { code: "ERR_FILE" });
  });

  it("never ends the process with an error that nobody listens to", async () => {
    const { begun } = await begin(opened, (_, socket) => cut(socket, file, 1000));
    const { body } = await begun;
    await new Promise((resolve) => body.once("close", resolve));
    await failsWith(buffer(body), { code: "ERR_CONNECTION_LOST", outcome: null });
  });

  it("fails in the middle without a strong ETag, and begins again only when it is told to", async () => {
    const { server, begun } = await begin(opened, ({ index }, socket) =>
      index === 0 ? cut(socket, file, 1000, { etag: 'W/"weak"' }) : reply(socket, { body: file }),
    );
    const first = await begun;
    await failsWith(buffer(first.body), { code: "ERR_CONNECTION_LOST", outcome: null });
    assert.equal(server.requests.length, 1);
    const second = await first.restart();
    assert.ok((await buffer(second.body)).equals(file));
    assert.equal(server.requests.length, 2);
  });

  it("goes on with a strong ETag, where the server sends the whole once more as well", async () => {
    const { server, begun } = await begin(opened, ({ index }, socket) => {
      if (index === 0) {
        cut(socket, file, 1000, etag);
      } else if (index === 1) {
        cut(socket, file, 5000, etag);
      } else {
        rest(socket, file, 5000, etag);
      }
    });
    assert.ok((await readBody(begun)).equals(file));
    assert.equal(server.requests.length, 3);
  });

  it("cannot begin again while it has not failed, or when it was destroyed", async () => {
    const { server, begun } = await begin(opened, sendLarge);
    const download = await begun;
    await assert.rejects(download.restart());
    download.body.destroy();
    await assert.rejects(download.restart());
    assert.equal(server.requests.length, 1);
  });

  it("ends with the signal of its request, also while it is read", async () => {
    const { server, transport, begun } = await begin(opened, sendLarge);
    (await begun).body.destroy();
    const abort = new AbortController();
    const { body } = await startDownload(transport, read, "medium", { signal: abort.signal });
    setTimeout(() => abort.abort(), 20);
    await sleep(30);
    await failsWith(buffer(body), { code: "ERR_CANCELLED", outcome: null });
    await server.allClosed();
  });
});

describe("a download in the hands of saveToFile and readToBuffer", () => {
  const opened = closesAfterEach();
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "download-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it("is taken once: a second time is refused, by either", async () => {
    const { server, transport, begun } = await begin(opened, (_, socket) => reply(socket, { body: file }));
    const download = await begun;
    const { payload } = await readToBuffer(download);
    assert.ok(payload.equals(file));
    const destroyed = await startDownload(transport, read, "medium");
    destroyed.body.destroy();
    for (const used of [download, destroyed]) {
      await failsWith(readToBuffer(used), { code: "ERR_INPUT" });
      await failsWith(saveToFile(used, { folder }), { code: "ERR_INPUT" });
    }
    assert.equal(server.requests.length, 2);
    assert.deepEqual(await readdir(folder), []);
  });

  it("begins again where the body cannot go on", async () => {
    const { transport, begun } = await begin(opened, ({ index }, socket) =>
      index % 2 === 0 ? cut(socket, file, 1000) : reply(socket, { body: file }),
    );
    const saved = await saveToFile(await begun, { folder });
    assert.equal(saved.bytes, file.length);
    assert.ok((await readToBuffer(await startDownload(transport, read, "medium"))).payload.equals(file));
  });

  const failures = {
    "the folder is missing": { options: () => ({ folder: "/nowhere/at/all" }), code: "ERR_FILE" },
    "the name leads out of the folder": { options: () => ({ filename: "../x" }), code: "ERR_INPUT" },
    "it is aborted before": { options: () => ({ signal: AbortSignal.abort() }), code: "ERR_CANCELLED" },
    "it is aborted meanwhile": {
      options: () => ({ signal: AbortSignal.timeout(20) }),
      code: "ERR_CANCELLED",
    },
  } as const;
  for (const [why, { options, code }] of Object.entries(failures)) {
    it(`leaves no connection and no file when ${why}`, async () => {
      const { server, begun } = await begin(opened, (_, socket) =>
        socket.write(replyBytes({ headers: { "content-length": 1e9 }, body: large })),
      );
      await failsWith(saveToFile(await begun, { folder, ...options() }), { code });
      await server.allClosed();
      await untilListed(folder, []);
    });
  }

  it("comes to the disk byte by byte, three at a time, with a disk that makes them wait", async () => {
    // Every word contains its position, so that bytes in a wrong place are noticed.
    const words = Buffer.from(Uint32Array.from({ length: 3_750_000 }, (_, index) => index).buffer);
    const { transport, begun } = await begin(opened, (_, socket) => reply(socket, { body: words }));
    (await begun).body.destroy();
    let writes = 0;
    const disk = watchedDisk(async (call) => {
      if (call === "file.writev" && ++writes % 3 === 0) {
        await sleep(2);
      }
    });
    const wanted = createHash("sha256").update(words).digest("hex");
    const facts = { operation: "media", surface: "cloud", host: "127.0.0.1", disk } as const;
    const save = (suggestedBase: string): ReturnType<typeof internal.saveToFile> =>
      internal.saveToFile(
        () => startDownload(transport, read, "medium"),
        { folder, suggestedBase, ifExists: "error" },
        facts,
      );
    for (const { path, sha256 } of await Promise.all(["a", "b", "c"].map(save))) {
      assert.equal(sha256, wanted);
      const onDisk = createHash("sha256");
      await pipeline(createReadStream(path), onDisk);
      assert.equal(onDisk.digest("hex"), wanted);
    }
  });
});
