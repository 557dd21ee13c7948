import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { testFolder } from "../../src/runtime/admin/store-test.ts";
import { systemError, watchedDisk } from "../media/support.ts";

describe("Test connection of a store, for its folder", () => {
  let root: string;

  interface FoundOptions {
    readonly signal?: AbortSignal;
    readonly workFolder?: string;
  }

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "folder-test-"));
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const found = async (
    disk = watchedDisk(() => undefined),
    folder = root,
    { signal = AbortSignal.timeout(90_000), workFolder }: FoundOptions = {},
  ): Promise<string[]> => {
    const lines = await testFolder({ path: folder, workFolder }, signal, disk);
    return lines.map(({ state, key }) => `${state} ${key}`);
  };
  const good = ["folder", "folderWritable", "folderNames", "folderSyncs", "folderAppends", "workFolder"].map(
    (key) => `good ${key}`,
  );
  const fails =
    (name: string, code: string) =>
    (call: string): void => {
      if (call === name) {
        throw systemError(code);
      }
    };

  it("tries everything in a folder that will do, and leaves it as it was", async () => {
    await writeFile(join(root, "own.txt"), "mine");
    const lines = await found();
    assert.deepEqual(lines.slice(0, 6), good);
    assert.match(lines[6] ?? "", /^\w+ space(?:Low)?$/);
    assert.deepEqual(await readdir(root), ["own.txt"]);
  });

  it("tries the folder of unfinished packages where there is one, and leaves it as it was", async () => {
    const state = join(root, ".dimensioner-archive");
    for (const work of [state, join(state, "work")]) {
      await mkdir(work);
      assert.deepEqual((await found()).slice(0, 6), good);
    }
    assert.deepEqual(await readdir(state, { recursive: true }), ["work"]);
    const lines = await found(watchedDisk(elsewhere));
    assert.deepEqual(lines.slice(5, 6), ["bad workElsewhere"]);
    assert.deepEqual(await readdir(state, { recursive: true }), ["work"]);
    assert.deepEqual(await readdir(root), [".dimensioner-archive"]);
  });

  /** As if the work folder were another disk. */
  function elsewhere(call: string, [from]: readonly unknown[]): void {
    if (call === "rename" && String(from).includes("work")) {
      throw systemError("EXDEV");
    }
  }

  it("follows no link out of the folder", async () => {
    const outside = await mkdtemp(join(tmpdir(), "outside-"));
    try {
      await symlink(outside, join(root, ".dimensioner-archive"));
      const lines = await found();
      assert.deepEqual(lines.slice(5, 6), ["bad workElsewhere"]);
      assert.deepEqual(await readdir(outside), []);
      assert.deepEqual(await readdir(root), [".dimensioner-archive"]);
    } finally {
      await rm(outside, { recursive: true });
    }
  });

  it("says what is wrong with a folder that will not do, and what to do", async () => {
    const file = join(root, "file");
    await writeFile(file, "");
    assert.deepEqual(await found(undefined, join(root, "missing")), ["bad fileNoFolder"]);
    assert.deepEqual(await found(undefined, file), ["bad fileNotFolder"]);
    for (const [call, code, line] of [
      ["mkdir", "EACCES", "bad fileDenied"],
      ["mkdir", "EROFS", "bad fileDenied"],
      ["file.write", "ENOSPC", "bad fileFull"],
      ["file.write", "EIO", "bad fileOther"],
    ] as const) {
      assert.deepEqual(await found(watchedDisk(fails(call, code))), ["good folder", line], `${call} ${code}`);
    }
    assert.deepEqual(await readdir(root), ["file"]);
  });

  it("sees a disk on which one folder overwrites another", async () => {
    const overwrites = watchedDisk(async (call, [, to]) => {
      if (call === "rename" && String(to).endsWith("taken")) {
        await rm(String(to), { recursive: true });
      }
    });
    assert.deepEqual((await found(overwrites)).slice(2, 3), ["bad folderOverwrites"]);
    assert.deepEqual(await readdir(root), []);
  });

  it("says that a disk cannot rename folders, or cannot sync them", async () => {
    const lines = await found(watchedDisk(fails("rename", "ENOSYS")));
    assert.deepEqual(lines.slice(2), ["bad fileOther"]);
    const unsynced = await found(
      watchedDisk((call, [, flags]) => {
        if (call === "open" && flags === "r") {
          throw systemError("EISDIR");
        }
      }),
    );
    assert.deepEqual(unsynced.slice(3, 4), ["warning folderNoSync"]);
    assert.deepEqual(await readdir(root), []);
  });

  it("does what archiving does: a disk on which that fails will not do", async () => {
    for (const [call, code] of [
      ["link", "EIO"],
      ["file.sync", "EIO"],
      ["file.datasync", "EIO"],
    ] as const) {
      const lines = await found(watchedDisk(fails(call, code)));
      assert.equal(lines.at(-1), "bad fileOther", call);
    }
    let written = 0;
    const loses = watchedDisk((call, [bytes]) => {
      if (call === "file.write" && Buffer.isBuffer(bytes) && bytes.toString() === "medium") {
        bytes.fill(0);
        written += 1;
      }
    });
    assert.ok((await found(loses)).includes("bad folderLoses"));
    assert.equal(written, 1);
  });

  it("receives no media in a folder on another disk than Node-RED, where they wait meanwhile", async () => {
    const workFolder = join(root, "..", `${basename(root)}-work`);
    const disk = watchedDisk(fails("link", "EIO"));
    const other: typeof disk = new Proxy(disk, {
      get: (real, name) =>
        name === "stat"
          ? async (path: string) => Object.assign(await real.stat(path), { dev: -1 })
          : Reflect.get(real, name, real),
    });
    const lines = await found(other, root, { workFolder });
    assert.deepEqual(lines.slice(1, 6), [...good.slice(1, 5), "good workSpool"]);
  });

  it("names a test folder that cannot be removed", async () => {
    const lines = await testFolder(
      { path: root },
      AbortSignal.timeout(90_000),
      watchedDisk(fails("rm", "EPERM")),
    );
    assert.equal(lines.at(-1)?.key, "fileDenied");
    assert.match(JSON.stringify(lines.at(-1)?.values), /\.dimensioner-test-/);
  });

  it("does not wait for a disk that hangs, and cleans up when it answers again", async () => {
    const hung = Promise.withResolvers<void>();
    const stop = new AbortController();
    const removed = Promise.withResolvers<void>();
    const disk = watchedDisk(async (call) => {
      if (call === "rename") {
        stop.abort();
        await hung.promise;
      }
      if (call === "rm") {
        setImmediate(() => removed.resolve());
      }
    });
    assert.deepEqual(await found(disk, root, { signal: stop.signal }), [
      "good folder",
      "good folderWritable",
      "bad fileHung",
    ]);
    hung.resolve();
    await removed.promise;
    while ((await readdir(root)).length > 0) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  });
});
