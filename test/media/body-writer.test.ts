import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import * as fsPromises from "node:fs/promises";
import { type FileHandle, open, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import type { Disk } from "../../src/media/disk.ts";
import { BodyWriter, ReceivedBody, type WrittenBody } from "../../src/media/save-to-file.ts";
import { blocks, systemError, watchedDisk, withFolder } from "./support.ts";

const megabyte = 1024 * 1024;

/** Writes these chunks to a file of its own, and hands both over while the file is there. */
async function write(
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  look: (written: WrittenBody, path: string) => Promise<void> = async () => undefined,
  disk: Disk = fsPromises,
): Promise<void> {
  await withFolder(async (folder) => {
    const path = join(folder, "part");
    const file = await disk.open(path, "wx");
    try {
      await look(await new BodyWriter(Readable.from(chunks, { objectMode: false }), file).write(), path);
    } finally {
      await file.close();
    }
  });
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

describe("writing a body to a file", () => {
  it("writes chunks of all sizes in order, and tells their number and hash", async () => {
    const whole = Buffer.from(Array.from({ length: 5_900_000 }, (_, index) => (index * 7919) >> 5));
    function* chunks(): Generator<Uint8Array> {
      let at = 0;
      for (const size of [1, 3, 65_536, 300_000, 2, 500_000, 5_000_000, 40_000]) {
        yield whole.subarray(at, at + size);
        at += size;
      }
    }
    await write(chunks(), async (written, path) => {
      assert.equal(written.bytes, whole.length);
      assert.equal(written.sha256, sha256(whole));
      assert.ok((await readFile(path)).equals(whole));
    });
  });

  it("writes a body that was paused before", async () => {
    await withFolder(async (folder) => {
      const file = await open(join(folder, "part"), "wx");
      const body = Readable.from([Buffer.from("paused")], { objectMode: false }).pause();
      assert.equal((await new BodyWriter(body, file).write()).bytes, 6);
      await file.close();
    });
  });

  it("refuses a body of something else than bytes", async () => {
    await withFolder(async (folder) => {
      const file = await open(join(folder, "part"), "wx");
      const body = Readable.from([{}]);
      await assert.rejects(new BodyWriter(body, file).write(), TypeError);
      assert.ok(body.destroyed);
      await file.close();
    });
  });

  it("writes nothing for an empty body", async () => {
    await write([], async (written, path) => {
      assert.deepEqual([written.bytes, written.sha256], [0, sha256(Buffer.alloc(0))]);
      assert.equal((await stat(path)).size, 0);
    });
  });

  it("512 MB: at most a few MB are under way, nothing is lost, and timers get their turn", async () => {
    const total = 512 * megabyte + 11;
    let batches = 0;
    let ticks = 0;
    const hash = createHash("sha256");
    function* counted(): Generator<Uint8Array> {
      for (const chunk of blocks(total)) {
        hash.update(chunk);
        yield chunk;
      }
    }
    const disk = watchedDisk((call) => void (batches += call === "file.writev" ? 1 : 0));
    const timer = setInterval(() => (ticks += 1), 5);
    const before = process.memoryUsage().rss;
    try {
      await write(
        counted(),
        async (written, path) => {
          const grown = process.memoryUsage().rss - before;
          assert.equal((await stat(path)).size, total);
          assert.equal(written.sha256, hash.digest("hex"));
          assert.ok(grown < 64 * megabyte, `${grown} bytes more`);
          assert.ok(batches > 200, `${batches} batches`);
          assert.ok(ticks > 16, `${ticks} ticks`);
        },
        disk,
      );
    } finally {
      clearInterval(timer);
    }
  });

  it("takes no more than two batches ahead of a slow disk", async () => {
    let given = 0;
    let written = 0;
    let ahead = 0;
    function* counted(): Generator<Uint8Array> {
      for (const chunk of blocks(24 * megabyte, 16 * 1024)) {
        given += chunk.byteLength;
        ahead = Math.max(ahead, given - written);
        yield chunk;
      }
    }
    const disk = watchedDisk(async (call, [batch]) => {
      if (call === "file.writev") {
        await delay(2);
        written += bytesOf(batch);
      }
    });
    await write(counted(), undefined, disk);
    assert.ok(ahead > megabyte && ahead <= 2.2 * megabyte, `${ahead} bytes ahead`);
  });

  it("does not pile up a drip of single bytes", async () => {
    let batches = 0;
    const disk = watchedDisk((call) => void (batches += call === "file.writev" ? 1 : 0));
    function* drip(): Generator<Uint8Array> {
      for (let count = 0; count < 40_000; count += 1) {
        yield Uint8Array.of(count);
      }
    }
    await write(
      drip(),
      async (_written, path) => {
        const content = await readFile(path);
        assert.equal(content.length, 40_000);
        assert.ok(content.every((byte, index) => byte === index % 256));
      },
      disk,
    );
    assert.ok(batches > 0 && batches < 100, `${batches} batches`);
  });

  it("goes on after writes that the disk took only in part", async () => {
    const whole = Buffer.from(Array.from({ length: 700_000 }, (_, index) => index % 251));
    await withFolder(async (folder) => {
      const path = join(folder, "part");
      const file = await open(path, "wx");
      const takesLittle = replacing(file, async (batch, position) => {
        const [first = Buffer.alloc(0), second] = batch;
        const part = second === undefined ? first.subarray(0, 70_001) : second.subarray(0, 3);
        return second === undefined
          ? await file.writev([part], position)
          : await file.writev([first, part], position);
      });
      const body = Readable.from(blocksOf(whole, 40_000), { objectMode: false });
      const written = await new BodyWriter(body, takesLittle).write();
      await file.close();
      assert.ok((await readFile(path)).equals(whole));
      assert.equal(written.sha256, sha256(whole));
    });
  });

  describe("the memory of what came over a connection", () => {
    /** Saves these chunks as a body that came over a connection. */
    async function receive(
      chunks: readonly Uint8Array[],
      meanwhile: (body: ReceivedBody) => void = () => undefined,
    ): Promise<void> {
      const content = Buffer.concat(chunks);
      const left = [...chunks];
      // As from a connection, nothing comes while it is asked for.
      const body = new ReceivedBody({ read: () => setImmediate(() => body.push(left.shift() ?? null)) });
      await withFolder(async (folder) => {
        const file = await open(join(folder, "part"), "wx");
        const writing = new BodyWriter(body, file).write();
        meanwhile(body);
        const { sha256: hash } = await writing;
        await file.close();
        assert.equal(hash, sha256(content));
        assert.ok((await readFile(join(folder, "part"))).equals(content));
      });
    }
    const whole = (): Uint8Array[] => Array.from({ length: 80 }, (_, at) => new Uint8Array(65_536).fill(at));

    it("is free when it is written", async () => {
      const chunks = whole();
      await receive(chunks);
      assert.ok(chunks.every(({ buffer }) => buffer.byteLength === 0));
    });

    it("stays where a chunk is only a part of it", async () => {
      const chunks = whole().map((chunk) => chunk.subarray(1));
      await receive(chunks);
      assert.ok(chunks.every((chunk, at) => chunk.byteLength === 65_535 && chunk.at(-1) === at));
    });

    it("stays while somebody else takes the chunks too", async () => {
      const kept: Uint8Array[] = [];
      await receive(whole(), (body) => void body.on("data", (chunk: Uint8Array) => kept.push(chunk)));
      assert.equal(Buffer.concat(kept).length, 80 * 65_536);
    });
  });

  it("leaves chunks alone that did not come over a connection", async () => {
    const chunk = Buffer.from(new Uint8Array(70_000).fill(7).buffer);
    await write([chunk]);
    assert.equal(chunk.length, 70_000);
  });

  describe("syncs while writing", () => {
    const body = (): Readable => Readable.from(blocks(200 * megabyte), { objectMode: false });

    async function writeSyncing(onSync: () => unknown): Promise<number> {
      let syncs = 0;
      let running = 0;
      const disk = watchedDisk(async (call) => {
        if (call === "file.datasync") {
          syncs += 1;
          running += 1;
          assert.equal(running, 1, "one at a time");
          try {
            await onSync();
          } finally {
            running -= 1;
          }
        }
      });
      await withFolder(async (folder) => {
        const file = await disk.open(join(folder, "part"), "wx");
        try {
          await new BodyWriter(body(), file).write();
          assert.equal(running, 0);
        } finally {
          await file.close();
        }
      });
      return syncs;
    }

    it("after each 64 MB", async () => {
      const syncs = await writeSyncing(() => undefined);
      assert.ok(syncs > 0 && syncs <= 3, `${syncs} syncs`);
    });

    it("only once if a sync takes long", async () => {
      assert.equal(await writeSyncing(() => delay(550)), 1);
    });

    it("not at all on a disk without sync", async () => {
      const syncs = await writeSyncing(() => {
        throw systemError("ENOSYS");
      });
      assert.ok(syncs > 0);
    });

    it("fails with the first sync that fails, also after the last bytes", async () => {
      await assert.rejects(
        writeSyncing(async () => {
          await delay(50);
          throw systemError("EIO");
        }),
        /EIO/,
      );
    });
  });

  it("ends when the disk takes nothing any more, instead of trying for ever", async () => {
    await withFolder(async (folder) => {
      const file = await open(join(folder, "part"), "wx");
      const takesNothing = replacing(file, async () => ({ bytesWritten: 0 }));
      const body = Readable.from([Buffer.alloc(9)], { objectMode: false });
      await assert.rejects(new BodyWriter(body, takesNothing).write(), /accepts no more data/);
      await file.close();
    });
  });

  it("destroys the body when the disk fails", async () => {
    const disk = watchedDisk((call) => {
      if (call === "file.writev") {
        throw systemError("EIO");
      }
    });
    await withFolder(async (folder) => {
      const file = await disk.open(join(folder, "part"), "wx");
      const body = Readable.from(blocks(100 * megabyte), { objectMode: false });
      await assert.rejects(new BodyWriter(body, file).write(), /EIO/);
      assert.ok(body.destroyed);
      await file.close();
    });
  });

  it("ends with a body that fails while the disk hangs", async () => {
    const hangs = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const disk = watchedDisk(async (call) => {
      if (call === "file.writev") {
        reached.resolve();
        await hangs.promise;
      }
    });
    await withFolder(async (folder) => {
      const file = await disk.open(join(folder, "part"), "wx");
      const body = Readable.from(blocks(100 * megabyte), { objectMode: false });
      const writing = new BodyWriter(body, file).write();
      await reached.promise;
      await delay(10);
      body.destroy(new Error("nothing came for 30 s"));
      await assert.rejects(writing, /nothing came/);
      hangs.resolve();
      await file.close();
    });
  });
});

/** The file with another `writev`. */
function replacing(
  file: FileHandle,
  writev: (batch: Uint8Array[], position: number) => Promise<{ bytesWritten: number }>,
): FileHandle {
  return new Proxy(file, {
    get: (real, key) => (key === "writev" ? writev : Reflect.get(real, key, real)),
  });
}

function* blocksOf(whole: Buffer, size: number): Generator<Uint8Array> {
  for (let at = 0; at < whole.length; at += size) {
    yield whole.subarray(at, at + size);
  }
}

function bytesOf(batch: unknown): number {
  assert.ok(Array.isArray(batch));
  let bytes = 0;
  for (const chunk of batch) {
    assert.ok(chunk instanceof Uint8Array);
    bytes += chunk.byteLength;
  }
  return bytes;
}
