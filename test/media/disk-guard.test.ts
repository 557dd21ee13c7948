import assert from "node:assert/strict";
import * as fsPromises from "node:fs/promises";
import { stat } from "node:fs/promises";
import { isDimensionerError } from "../../src/errors/dimensioner-error.ts";
import { diskError } from "../../src/media/disk.ts";
import { DiskGuard } from "../../src/media/disk-guard.ts";
import { holdUp } from "../support/hold-up.ts";
import { withFolder } from "./support.ts";

describe("the guard of the disks, in a process that is held up", () => {
  it("does not take a disk that has answered in time for one that hangs", async () => {
    await withFolder(async (folder) => {
      const guard = new DiskGuard({ threads: 4, hungAfterMs: 300, syncHungAfterMs: 300 });
      const stats = guard.guard(fsPromises, folder).stat(folder);
      holdUp(500);
      assert.equal((await stats).ino, (await stat(folder)).ino);
    });
  });
});

describe("the guard of the disks, on a full disk", () => {
  const facts = { operation: "archive", surface: "disk", host: "archive" } as const;
  const rules = { threads: 4, hungAfterMs: 30_000, syncHungAfterMs: 30_000 };
  /** A disk on which nothing can be created or written. */
  const fullDisk = (files: number, ffree: number) => ({
    open: async () => ({ ...writable, close: async () => undefined }),
    mkdir: async () => Promise.reject(full()),
    statfs: async () => ({ files, ffree, bavail: 1_000_000, bsize: 4_096, blocks: 2_000_000 }),
  });
  const full = (): Error =>
    Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC", errno: -28 });
  const writable = { write: async () => Promise.reject(full()) };

  for (const [what, disk, sentence] of [
    ["files are left, but no space", fullDisk(1_000, 1), "fileFull"],
    ["no files are left", fullDisk(1_000, 0), "fileNoInodes"],
    ["it does not count its files", fullDisk(0, 0), "fileFull"],
  ] as const) {
    it(`says what is full: ${what}`, async () => {
      await withFolder(async (folder) => {
        const guarded = new DiskGuard(rules).guard(disk, folder);
        const file = await guarded.open();
        for (const call of [() => guarded.mkdir(), () => file.write()]) {
          const error: unknown = await call().catch((rejected: unknown) => rejected);
          const explained = diskError(error, folder, facts);
          assert.ok(isDimensionerError(explained));
          assert.deepEqual([explained.code, explained.sentence], ["ERR_FILE", sentence]);
        }
      });
    });
  }
});
