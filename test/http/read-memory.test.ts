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
  for (let piece = 0; piece < pieces; piece++) {
    yield wordsFrom(piece * pieceBytes, pieceBytes);
  }
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
        if (call === "file.writev" && ++writes % 3 === 0) {
          await delay(2);
        }
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

  it("keeps what a slow disk has not taken yet, while the same connection brings the next download", async () => {
    const videoBytes = 3_000_004;
    const video = (from: number): Buffer => wordsFrom(from, videoBytes);
    const server = createServer((request, response) => {
      const number = Number(request.url?.split("/").at(-1));
      response.writeHead(200, { "Content-Type": "video/mp4", "Content-Length": videoBytes });
      response.end(video(number * 4_000_000));
    });
    const port = await listen(server);
    opened({ close: () => new Promise((resolve) => server.close(resolve)) });
    const cloud = opened(new CloudClient({ baseUrl: `http://127.0.0.1:${port}`, token }));
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let writes = 0;
    // The first download's last write waits until three others are on their disk.
    const slow = watchedDisk(async (call) => {
      if (call === "file.writev" && ++writes === 2) {
        await held;
      }
    });
    const save = (id: string, disk = watchedDisk(async () => undefined)) =>
      saveToFile(
        (sink) => cloud.media("905865", id, sink),
        { folder, suggestedBase: `video-${id}`, ifExists: "error" },
        { operation: "media", surface: "cloud", host: "127.0.0.1", disk },
      );
    const first = save("1", slow);
    for (const id of ["2", "3", "4"]) {
      await save(id);
    }
    release();
    const { path } = await first;
    assert.equal(await sha256(createReadStream(path)), await sha256([video(4_000_000)]));
  });

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
    /** A memory whose reads have grown with what came, and the first of its largest pieces. */
    const grown = () => {
      const memory = new ReadMemory();
      const read = reader(memory);
      for (let turn = 0; turn < 5; turn++) {
        read(Infinity);
      }
      return { memory, read, first: read(Infinity) };
    };
    /** The parts of a chunk as so many answers have them. */
    const lend = (memory: ReadMemory, chunk: Buffer, ...at: readonly number[]): Buffer[] => {
      const parts = [0, ...at].map((start, index) => chunk.subarray(start, at[index] ?? chunk.length));
      parts.forEach((part) => memory.lend(part));
      return parts;
    };

    it("is used again when all of it has come back, and not before", () => {
      const { memory, read, first } = grown();
      const [start = first, end = first] = lend(memory, first, 1000);
      memory.giveBack(start);
      const second = read(Infinity);
      memory.giveBack(end);
      const others = [read(Infinity), read(Infinity)];
      assert.notEqual(second.buffer, first.buffer);
      assert.ok(others.some(({ buffer }) => buffer === first.buffer));
    });

    it("is not used again while an earlier part of it is with a receiver", () => {
      const { memory, read, first } = grown();
      const [slow = first, quick = first] = lend(memory, first, 1000);
      memory.giveBack(quick);
      const between = [read(Infinity), read(Infinity), read(Infinity)];
      assert.ok(
        between.every(({ buffer }) => buffer !== first.buffer),
        "it would be read over",
      );
      memory.giveBack(slow);
      const others = [read(Infinity), read(Infinity)];
      assert.ok(others.some(({ buffer }) => buffer === first.buffer));
    });

    it("is not used again while an answer has it that gives nothing back", () => {
      const { memory, read, first } = grown();
      const [, end = first] = lend(memory, first, 1000);
      memory.giveBack(end);
      const others = [read(Infinity), read(Infinity), read(Infinity)];
      assert.ok(others.every(({ buffer }) => buffer !== first.buffer));
    });

    it("is of one connection, also when another is opened while its bytes are read", () => {
      const { buffer, callback } = new ReadMemory().onread;
      assert.ok(typeof buffer === "function");
      let other: Uint8Array | undefined;
      const socket = opened(Object.assign(new Socket(), { _read: () => undefined, close: () => undefined }));
      const push = socket.push.bind(socket);
      socket.push = (chunk: unknown) => {
        other = buffer();
        return push(chunk);
      };
      const into = buffer();
      callback.call(socket, 10, into);
      assert.notEqual(other?.buffer, into.buffer);
      assert.equal(buffer().buffer, into.buffer, "the rest is for the next read of the same connection");
    });

    it("is left alone when what comes back is from elsewhere", () => {
      const memory = new ReadMemory();
      const read = reader(memory);
      memory.giveBack(Buffer.alloc(10));
      const chunk = read(Infinity);
      memory.lend(chunk);
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
