import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import { CloudClient } from "../../src/cloud/client.ts";
import { ReadMemory } from "../../src/http/read-memory.ts";
import { saveToFile } from "../../src/media/save-to-file.ts";
import { watchedDisk } from "../media/support.ts";
import { closesAfterEach } from "../support/opened.ts";
import { token } from "../support/operations.ts";
import { listen } from "../support/servers.ts";
import { identity, pem } from "../support/tls.ts";

/** Every word says where it stands, so that bytes in a wrong place are noticed. */
function wordsFrom(start: number, bytes: number): Buffer {
  const words = Uint32Array.from({ length: bytes / 4 }, (_, index) => start / 4 + index);
  return Buffer.from(words.buffer);
}

const pieceBytes = 100_004;
const pieces = 150;

function* body(): Generator<Buffer> {
  for (let piece = 0; piece < pieces; piece++) yield wordsFrom(piece * pieceBytes, pieceBytes);
}

async function sha256(source: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(source, hash);
  return hash.digest("hex");
}

describe("memory that is read into again", () => {
  const opened = closesAfterEach();
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "read-memory-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const answer =
    (headers: Record<string, string>): RequestListener =>
    (_request, response) => {
      response.writeHead(200, { "Content-Type": "video/mp4", ...headers });
      pipeline(Readable.from(body()), response).catch(() => undefined);
    };
  const length = { "Content-Length": String(pieces * pieceBytes) };
  const servers: Readonly<Record<string, () => Server>> = {
    "with a length": () => createServer(answer(length)),
    "in chunks": () => createServer(answer({})),
    "over TLS": () => createTlsServer(identity("good"), answer(length)),
  };

  for (const [name, create] of Object.entries(servers)) {
    it(`brings downloads ${name} to the disk byte by byte, three at a time, with a disk that makes them wait`, async () => {
      const server = create();
      const port = await listen(server);
      opened({ close: () => new Promise((resolve) => server.close(resolve)) });
      const isTls = name === "over TLS";
      const cloud = opened(
        new CloudClient({
          baseUrl: isTls ? `https://localhost:${port}` : `http://127.0.0.1:${port}`,
          token,
          tls: isTls ? { ca: pem("authority.crt") } : undefined,
        }),
      );
      let writes = 0;
      const disk = watchedDisk(async (call) => {
        if (call === "file.writev" && ++writes % 3 === 0) await delay(2);
      });
      const save = (id: string) =>
        saveToFile(
          (sink) => cloud.media("905865", id, sink),
          { folder, suggestedBase: id, ifExists: "error" },
          { operation: "media", surface: "cloud", host: "127.0.0.1", disk },
        );
      const wanted = await sha256(body());
      for (const saved of await Promise.all(["a", "b", "c"].map(save))) {
        assert.equal(saved.sha256, wanted);
        assert.equal(await sha256(createReadStream(saved.path)), wanted);
      }
    });
  }

  describe("a piece of it", () => {
    /** Reads so many bytes as Node.js would, and returns what the socket's reader gets. */
    const reader = (memory: ReadMemory) => {
      const { buffer, callback } = memory.onread;
      assert.ok(typeof buffer === "function");
      const socket = opened(Object.assign(new Socket(), { _read: () => undefined, close: () => undefined }));
      let next = buffer();
      return (bytes: number): Buffer => {
        const into = next;
        const count = Math.min(bytes, into.length);
        callback.call(socket, count, into);
        next = buffer();
        const chunk = socket.read() as Buffer;
        assert.equal(chunk.length, count);
        return chunk;
      };
    };

    it("is used again when all of it has come back, and not before", () => {
      const memory = new ReadMemory();
      const read = reader(memory);
      // The reads grow with what comes.
      for (let turn = 0; turn < 5; turn++) read(Infinity);
      const first = read(Infinity);
      const [start, end] = [first.subarray(0, 1000), first.subarray(1000)];
      memory.giveBack(start);
      const second = read(Infinity);
      memory.giveBack(end);
      const others = [read(Infinity), read(Infinity)];
      assert.notEqual(second.buffer, first.buffer);
      assert.ok(others.some(({ buffer }) => buffer === first.buffer));
    });

    it("is left alone when what comes back is from elsewhere", () => {
      const memory = new ReadMemory();
      const read = reader(memory);
      memory.giveBack(Buffer.alloc(10));
      const chunk = read(Infinity);
      memory.giveBack(Buffer.from(chunk));
      assert.notEqual(read(Infinity).buffer, chunk.buffer);
    });

    it("takes many short reads, each in a place of its own", () => {
      const read = reader(new ReadMemory());
      const chunks = Array.from({ length: 1000 }, () => read(1));
      assert.equal(new Set(chunks.map(({ buffer }) => buffer)).size, 1);
      assert.equal(new Set(chunks.map(({ byteOffset }) => byteOffset)).size, 1000);
    });
  });
});
