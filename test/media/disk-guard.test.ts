import assert from "node:assert/strict";
import * as fsPromises from "node:fs/promises";
import { stat } from "node:fs/promises";
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
