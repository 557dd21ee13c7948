import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { missingMedia } from "../../src/cloud/expected-media.ts";
import { Archives } from "../../src/jobs/archive.ts";
import { ArchiveSession } from "../../src/runtime/archive/session.ts";
import { storeIn } from "../archive/store.ts";
import { withFolder } from "../media/support.ts";

describe("the use of an archive by one node", () => {
  it("opens nothing after it was closed, which nobody would release", async () => {
    await withFolder(async (root) => {
      const session = new ArchiveSession(new Archives(), {
        node: "node",
        store: () => storeIn(root),
        concurrency: () => 2,
        cloud: () => assert.fail("no cloud was given"),
        device: () => assert.fail("no device was given"),
        findMissing: missingMedia,
        isMine: () => true,
        onResumed: async () => assert.fail("there is no job"),
        onResumeError: (error) => assert.fail(String(error)),
        onAway: () => undefined,
        onFindings: () => assert.fail("the archive was opened"),
      });
      await session.close();
      await assert.rejects(session.open(), { code: "ERR_CANCELLED" });
      assert.deepEqual(await readdir(root), []);
    });
  });
});
