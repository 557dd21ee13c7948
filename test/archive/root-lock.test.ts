import assert from "node:assert/strict";
import { readdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { plainDisk } from "../../src/archive/archive-disk.ts";
import { Archives } from "../../src/archive/archives.ts";
import { RootLock } from "../../src/archive/journal/root-lock.ts";
import { rejectsWith, withFolder } from "../media/support.ts";
import { bundle, startChild } from "./processes.ts";
import { until } from "./support.ts";

describe("archive: one writer a root", () => {
  let script: string;

  before(async () => {
    script = await bundle("test/archive/lock-child.ts");
  });

  it("refuses a second process, and takes over at once when the first one was killed", async () => {
    await withFolder(async (root) => {
      const child = startChild(script, [root]);
      try {
        assert.equal(await child.nextLine(), "open");
        const error = await rejectsWith(new Archives().open(root), "ERR_FILE", "archiveLocked");
        assert.match(error.message, new RegExp(`process ${child.process.pid} on `));
        assert.equal(error.details.retryable, true);
        const second = startChild(script, [root]);
        assert.match(await second.nextLine(), /in use by another program/);
        await second.kill();
      } finally {
        await child.kill();
      }
      const since = performance.now();
      const lease = await new Archives().open(root);
      assert.ok(performance.now() - since < 2_000, "a dead owner is seen at once");
      await lease.release();
      assert.deepEqual((await readdir(join(root, ".dimensioner-archive"))).sort(), ["journal.jsonl", "work"]);
    });
  });

  it("shares the archive among the nodes of one process, however they spell the folder", async () => {
    await withFolder(async (root) => {
      const archives = new Archives();
      const [one, two] = await Promise.all([archives.open(root), archives.open(join(root, "x", ".."))]);
      assert.equal(one.root, two.root);
      await one.release();
      await one.release();
      await rejectsWith(new Archives().open(root), "ERR_FILE", "archiveLocked");
      await two.release();
      const again = await archives.open(root);
      assert.notEqual(again.root, two.root);
      await again.release();
    });
  });

  it("lets only one of many take over what a killed process left", async () => {
    await withFolder(async (root) => {
      const child = startChild(script, [root]);
      assert.equal(await child.nextLine(), "open");
      await child.kill();
      const opened = await Promise.allSettled(Array.from({ length: 8 }, () => new Archives().open(root)));
      const leases = opened.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
      assert.equal(leases.length, 1);
      await leases[0]?.release();
    });
  });

  it("watches for a beat where it cannot look up the owner: another machine's, or half a lock", async () => {
    await withFolder(async (state) => {
      const rules = { beatMs: 100, staleMs: 400 };
      const path = join(state, "lock");
      const far = { nonce: "n", pid: 1, host: "dock-9", boot: "b", processes: "p", started: "1" };
      await writeFile(path, JSON.stringify(far));
      let beats = 0;
      const beat = setInterval(() => void utimes(path, new Date(), new Date(++beats * 1_000)), 50);
      try {
        await rejectsWith(RootLock.acquire(state, plainDisk, { rules }), "ERR_FILE", "archiveLocked");
      } finally {
        clearInterval(beat);
      }
      for (const left of [JSON.stringify(far), '{"nonce"']) {
        await writeFile(path, left);
        const since = performance.now();
        const lock = await RootLock.acquire(state, plainDisk, { rules });
        assert.ok(performance.now() - since >= rules.staleMs);
        assert.match(await readFile(path, "utf8"), new RegExp(`"pid":${process.pid}`));
        // Its own beats show that it lives.
        const { mtimeMs } = await stat(path);
        await until(async () => (await stat(path)).mtimeMs !== mtimeMs, "a beat");
        await lock.release();
        assert.deepEqual(await readdir(state), []);
      }
    });
  });

  it("writes no more once another process has taken over", async () => {
    await withFolder(async (state) => {
      const rules = { beatMs: 20, staleMs: 100 };
      const lock = await RootLock.acquire(state, plainDisk, { rules });
      await lock.check();
      await writeFile(
        join(state, "lock"),
        JSON.stringify({ nonce: "n", pid: 1, host: "dock-9", boot: null, processes: null, started: null }),
      );
      await new Promise((resolve) => setTimeout(resolve, 2 * rules.beatMs));
      await rejectsWith(lock.check(), "ERR_FILE", "archiveLocked");
      await lock.release();
      assert.deepEqual(await readdir(state), ["lock"], "the other one's lock stays");
    });
  });

  it("refuses a root that is not there, is a file, or is blank, and creates none", async () => {
    await withFolder(async (root) => {
      await writeFile(join(root, "file"), "");
      await rejectsWith(new Archives().open(join(root, "gone")), "ERR_FILE", "fileNoFolder");
      await rejectsWith(new Archives().open(join(root, "file")), "ERR_FILE", "fileNotFolder");
      await rejectsWith(new Archives().open(" "), "ERR_CONFIG", "configFolder");
      assert.deepEqual(await readdir(root), ["file"]);
    });
  });
});
