import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import * as fsPromises from "node:fs/promises";
import { open, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileError, type Disk } from "../../src/media/disk.ts";
import { problemOf } from "../../src/errors/interpolation.ts";
import { FileSink } from "../../src/media/file-sink.ts";
import { blocks, facts, sending, systemError, watchedDisk, withFolder } from "./support.ts";

const megabyte = 1024 * 1024;

async function withSink(disk: Disk, body: (sink: FileSink, path: string) => Promise<void>): Promise<void> {
  await withFolder(async (folder) => {
    const path = join(folder, "part");
    const file = await disk.open(path, "wx");
    try {
      await body(new FileSink(file, (error) => fileError("fileOther", path, facts, problemOf(error))), path);
    } finally {
      await file.close();
    }
  });
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

describe("the file sink", function () {
  this.timeout(60_000);

  it("writes chunks of all sizes in order and hashes them", async () => {
    await withSink(fsPromises, async (sink, path) => {
      const whole = Buffer.from(Array.from({ length: 900_000 }, (_, index) => (index * 7919) >> 5));
      let at = 0;
      for (const size of [1, 0, 3, 65_536, 300_000, 2, 500_000, 40_000]) {
        sink.write(whole.subarray(at, at + size));
        at += size;
      }
      await sink.end();
      assert.equal(sink.bytes, whole.length);
      assert.equal(sink.sha256(), sha256(whole));
      assert.ok((await readFile(path)).equals(whole));
    });
  });

  it("512 MB: at most a few MB are under way, nothing is lost, and timers get their turn", async () => {
    let batches = 0;
    let ticks = 0;
    const disk = watchedDisk((call) => void (batches += call === "file.writev" ? 1 : 0));
    const timer = setInterval(() => (ticks += 1), 5);
    try {
      await withSink(disk, async (sink, path) => {
        const total = 512 * megabyte + 11;
        const hash = createHash("sha256");
        function* counted(): Generator<Uint8Array> {
          for (const chunk of blocks(total)) {
            hash.update(chunk);
            yield chunk;
          }
        }
        const before = process.memoryUsage().rss;
        await sending(counted())(sink);
        const grown = process.memoryUsage().rss - before;
        await sink.end();
        assert.equal(sink.bytes, total);
        assert.equal((await stat(path)).size, total);
        assert.equal(sink.sha256(), hash.digest("hex"));
        assert.ok(grown < 64 * megabyte, `${grown} bytes more`);
        assert.ok(batches > 200, `${batches} batches`);
        assert.ok(ticks > 16, `${ticks} ticks`);
      });
    } finally {
      clearInterval(timer);
    }
  });

  it("makes the sender wait for a slow disk at 4 MB and lets it go on at 2 MB", async () => {
    let given = 0;
    let written = 0;
    const pausedAt: number[] = [];
    const resumedAt: number[] = [];
    const disk = watchedDisk(async (call, [batch]) => {
      if (call !== "file.writev") {
        return;
      }
      await delay(1);
      written += bytesOf(batch);
    });
    await withSink(disk, async (sink, path) => {
      const source = blocks(24 * megabyte, 16 * 1024);
      await new Promise<void>((resolve) => {
        const push = (): void => {
          // Not for-of: leaving it would end the source.
          for (let next = source.next(); next.done !== true; next = source.next()) {
            given += next.value.byteLength;
            if (!sink.write(next.value)) {
              return void pausedAt.push(given - written);
            }
          }
          resolve();
        };
        sink.onDrain = () => {
          resumedAt.push(given - written);
          push();
        };
        push();
      });
      await sink.end();
      assert.equal((await stat(path)).size, 24 * megabyte);
    });
    assert.ok(pausedAt.length >= 5, `${pausedAt.length} pauses`);
    assert.equal(resumedAt.length, pausedAt.length);
    for (const bytes of pausedAt) {
      assert.ok(bytes > 3.5 * megabyte && bytes <= 4.1 * megabyte, `${bytes}`);
    }
    for (const bytes of resumedAt) {
      assert.ok(bytes <= 2 * megabyte, `${bytes}`);
    }
  });

  it("does not pile up a drip of single bytes", async () => {
    let batches = 0;
    const disk = watchedDisk((call) => void (batches += call === "file.writev" ? 1 : 0));
    await withSink(disk, async (sink, path) => {
      let pauses = 0;
      for (let count = 0; count < 40_000; count += 1) {
        if (sink.write(Uint8Array.of(count))) {
          continue;
        }
        pauses += 1;
        await new Promise<void>((resolve) => (sink.onDrain = resolve));
      }
      await sink.end();
      assert.ok(pauses > 0 && batches > 3, `${pauses} pauses, ${batches} batches`);
      const written = await readFile(path);
      assert.equal(written.length, 40_000);
      assert.ok(written.every((byte, index) => byte === index % 256));
    });
  });

  it("goes on after writes that the disk took only in part", async () => {
    const whole = Buffer.from(Array.from({ length: 700_000 }, (_, index) => index % 251));
    await withFolder(async (folder) => {
      const path = join(folder, "part");
      const file = await open(path, "wx");
      const takesLittle = new Proxy(file, {
        get(real, key) {
          if (key !== "writev") {
            return Reflect.get(real, key, real);
          }
          return async (batch: Uint8Array[], position: number) => {
            const [first = Buffer.alloc(0), second] = batch;
            const part = second === undefined ? first.subarray(0, 70_001) : second.subarray(0, 3);
            return second === undefined
              ? await real.writev([part], position)
              : await real.writev([first, part], position);
          };
        },
      });
      const sink = new FileSink(takesLittle, () => fileError("fileOther", path, facts));
      for (let at = 0; at < whole.length; at += 40_000) {
        sink.write(whole.subarray(at, at + 40_000));
      }
      await sink.end();
      await file.close();
      assert.ok((await readFile(path)).equals(whole));
      assert.equal(sink.sha256(), sha256(whole));
    });
  });

  it("ends the download when the disk takes nothing any more, instead of trying for ever", async () => {
    await withFolder(async (folder) => {
      const file = await open(join(folder, "part"), "wx");
      const takesNothing = new Proxy(file, {
        get: (real, key) =>
          key === "writev" ? async () => ({ bytesWritten: 0 }) : Reflect.get(real, key, real),
      });
      const sink = new FileSink(takesNothing, (error) =>
        fileError("fileOther", "x", facts, problemOf(error)),
      );
      sink.write(Buffer.alloc(9));
      await assert.rejects(sink.end(), /takes nothing/);
      await file.close();
    });
  });

  it("syncs on the way, once at a time, and leaves it where the disk is slow", async () => {
    let syncs = 0;
    let running = 0;
    let delayMs = 0;
    const disk = watchedDisk(async (call) => {
      if (call !== "file.datasync") {
        return;
      }
      syncs += 1;
      running += 1;
      assert.equal(running, 1);
      await delay(delayMs);
      running -= 1;
    });
    await withSink(disk, async (sink) => {
      await sending(blocks(300 * megabyte))(sink);
      await sink.end();
      assert.ok(syncs >= 2, `${syncs} syncs`);
    });
    syncs = 0;
    delayMs = 600;
    await withSink(disk, async (sink) => {
      await sending(blocks(100 * megabyte))(sink);
      await delay(700);
      await sending(blocks(200 * megabyte))(sink);
      await sink.end();
      assert.equal(syncs, 1);
    });
  });

  it("ends the download when a sync on the way fails, but not where there is none", async () => {
    for (const code of ["EIO", "ENOTSUP"]) {
      const disk = watchedDisk((call) => {
        if (call === "file.datasync") {
          throw systemError(code);
        }
      });
      await withSink(disk, async (sink) => {
        const sent = sending(blocks(100 * megabyte))(sink);
        await (code === "EIO" ? assert.rejects(sent, /abort error/) : sent);
        await (code === "EIO" ? assert.rejects(sink.end(), /EIO/) : sink.end());
      });
    }
  });

  it("forgets everything at a restart, also what is on its way to the disk", async () => {
    const disk = watchedDisk(async (call) => void (call === "file.writev" && (await delay(1))));
    await withSink(disk, async (sink, path) => {
      for (const chunk of blocks(3 * megabyte)) {
        sink.write(chunk);
      }
      await sink.restart();
      assert.equal(sink.bytes, 0);
      assert.equal((await stat(path)).size, 0);
      sink.write(Buffer.from("second "));
      await sink.restart();
      sink.write(Buffer.from("third"));
      await sink.end();
      assert.equal(await readFile(path, "utf8"), "third");
      assert.equal(sink.sha256(), sha256(Buffer.from("third")));
    });
  });

  it("takes what comes during a restart for the new beginning", async () => {
    const disk = watchedDisk(async (call) => void (call === "file.writev" && (await delay(1))));
    await withSink(disk, async (sink, path) => {
      for (const chunk of blocks(2 * megabyte)) {
        sink.write(chunk);
      }
      const first = sink.restart();
      sink.write(Buffer.from("lost"));
      const second = sink.restart();
      for (const chunk of blocks(megabyte)) {
        sink.write(chunk);
      }
      await first;
      await second;
      sink.write(Buffer.from("end"));
      const third = Buffer.concat([...blocks(megabyte), Buffer.from("end")]);
      await sink.end();
      assert.ok((await readFile(path)).equals(third));
      assert.equal(sink.sha256(), sha256(third));
    });
  });

  it("ends only after a restart that is still under way", async () => {
    await withSink(fsPromises, async (sink, path) => {
      sink.write(Buffer.from("first"));
      const restarted = sink.restart();
      sink.write(Buffer.from("second"));
      await sink.end();
      assert.equal(readFileSync(path, "utf8"), "second");
      await restarted;
    });
  });

  it("lets a sender that was told to wait go on after a restart", async () => {
    await withSink(fsPromises, async (sink) => {
      let drained = 0;
      sink.onDrain = () => (drained += 1);
      while (sink.write(Buffer.alloc(65_536))) {}
      await sink.restart();
      assert.equal(drained, 1);
      assert.equal(sink.write(Buffer.alloc(65_536)), true);
      await sink.end();
    });
  });

  it("tells the first fault of the disk, and tells it again to whoever goes on sending", async () => {
    let writes = 0;
    const disk = watchedDisk((call) => {
      if (call === "file.writev" && (writes += 1) >= 2) {
        throw systemError("EIO");
      }
    });
    await withSink(disk, async (sink) => {
      const errors: unknown[] = [];
      const told = new Promise<void>((resolve) => {
        sink.onError = (error) => {
          errors.push(error);
          resolve();
        };
      });
      while (sink.write(Buffer.alloc(65_536))) {}
      await told;
      assert.equal(errors.length, 1);
      assert.equal(sink.write(Buffer.alloc(9_000_000)), true);
      await sink.restart();
      await assert.rejects(sink.end());
      assert.deepEqual(errors, [sink.failure, sink.failure]);
    });
  });

  it("tells a fault at a restart", async () => {
    const disk = watchedDisk((call) => {
      if (call === "file.truncate") {
        throw systemError("EIO");
      }
    });
    await withSink(disk, async (sink) => {
      let told = 0;
      sink.onError = () => (told += 1);
      sink.write(Buffer.alloc(9));
      await sink.restart();
      assert.equal(told, 1);
      await assert.rejects(sink.end());
    });
  });
});

function bytesOf(batch: unknown): number {
  assert.ok(Array.isArray(batch));
  let bytes = 0;
  for (const chunk of batch) {
    assert.ok(chunk instanceof Uint8Array);
    bytes += chunk.byteLength;
  }
  return bytes;
}
