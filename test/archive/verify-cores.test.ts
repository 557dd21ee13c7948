import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import { sha256Of } from "../../src/model/sha256.ts";
import { plainDisk } from "../../src/vault/archive-disk.ts";
import { FileHasher } from "../../src/vault/file-hasher.ts";
import { hashFile } from "../../src/vault/packages/package-files.ts";
import { withFolder } from "../media/support.ts";

const megabyte = 1024 * 1024;

/** Hashes so much that another thread starts, if it may, and calls back when it has. */
async function withHasher(
  signal: AbortSignal,
  run: (hasher: FileHasher, thread: Worker, folder: string) => Promise<void>,
): Promise<void> {
  const threads: Worker[] = [];
  const note = (message: unknown): void => void threads.push((message as { worker: Worker }).worker);
  await withFolder(async (folder) => {
    const hasher = new FileHasher({ disk: plainDisk, signal, mayUseThread: true });
    subscribe("worker_threads", note);
    try {
      await writeFile(join(folder, "large"), "");
      await truncate(join(folder, "large"), 32 * megabyte);
      await hasher.hash(join(folder, "large"));
      const [thread, ...others] = threads;
      assert.ok(thread !== undefined && others.length === 0, `${threads.length} threads`);
      await once(thread, "online");
      await run(hasher, thread, folder);
    } finally {
      unsubscribe("worker_threads", note);
      await hasher.close();
    }
  });
}

describe("archive: two cores of dimensioner verify", () => {
  it("hash two files at once, and say the same of them", async () => {
    await withHasher(AbortSignal.timeout(60_000), async (hasher, thread, folder) => {
      const answers: unknown[] = [];
      thread.on("message", (answer) => answers.push(answer));
      const content = Buffer.alloc(3 * megabyte, "parcel");
      const path = join(folder, "video");
      await writeFile(path, content);
      const whole = { bytes: content.length, sha256: sha256Of(content) };
      for (const [named, expected] of [
        [path, whole],
        [join(folder, "missing"), undefined],
        [folder, undefined],
        // No file can have this name.
        [`${path}\0`, await hashFile(`${path}\0`, plainDisk).catch(String)],
      ] as const) {
        answers.length = 0;
        assert.deepEqual(await Promise.all([hasher.hash(named), hasher.hash(named)]), [expected, expected]);
        assert.equal(answers.length, 1, "one was hashed in the thread, one here");
      }
    });
  });

  it("read no file beyond the length that it should have", async () => {
    await withHasher(AbortSignal.timeout(60_000), async (hasher, thread, folder) => {
      const answers: unknown[] = [];
      thread.on("message", (answer) => answers.push(answer));
      const path = join(folder, "film");
      await writeFile(path, "");
      const bytes = 4 * megabyte;
      await truncate(path, bytes);
      const expected = { bytes, sha256: "" };
      const hash = () => hasher.hash(path, 2 * megabyte);
      assert.deepEqual(await Promise.all([hash(), hash()]), [expected, expected]);
      assert.equal(answers.length, 1, "one in the thread, one here");
      assert.deepEqual(await hasher.read(path, megabyte, 2 * megabyte), expected);
    });
  });

  it("are one again when the other thread fails", async () => {
    await withHasher(AbortSignal.timeout(60_000), async (hasher, thread, folder) => {
      await writeFile(join(folder, "picture"), "picture");
      const hashed = [hasher.hash(join(folder, "large")), hasher.hash(join(folder, "large"))];
      // As when its memory is exhausted.
      thread.emit("error", new Error("out of memory"));
      await thread.terminate();
      const [one, other] = await Promise.all(hashed);
      assert.deepEqual(one, other);
      assert.equal(typeof one === "object" && one.bytes, 32 * megabyte);
      assert.deepEqual(await hasher.hash(join(folder, "picture")), {
        bytes: 7,
        sha256: sha256Of(Buffer.from("picture")),
      });
    });
  });

  it("both stop when the verification is cancelled", async () => {
    const cancel = new AbortController();
    await withHasher(cancel.signal, async (hasher, _thread, folder) => {
      const hashed = [hasher.hash(join(folder, "large")), hasher.hash(join(folder, "large"))];
      const reason = new Error("cancelled by the user");
      cancel.abort(reason);
      for (const { status, ...rest } of await Promise.allSettled(hashed)) {
        assert.deepEqual([status, rest], ["rejected", { reason }]);
      }
    });
  });
});
