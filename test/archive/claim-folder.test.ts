import assert from "node:assert/strict";
import { cp, mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { stateFolderName } from "../../src/vault/archive-disk.ts";
import { rejectsWith, withFolder } from "../media/support.ts";
import { readLogged } from "./logged.ts";
import { MemoryDatabases } from "./memory-databases.ts";
import { storeIn } from "./store.ts";
import { type Opened, intentOf, mediumOf, openArchive, readPackages, until, workFolders } from "./support.ts";

describe("archive: a store whose settings name another folder than before", () => {
  async function withStore(
    body: (given: {
      /** The store with this folder of packages. */
      open: (folder: string) => Promise<Opened>;
      before: string;
      now: string;
    }) => Promise<void>,
  ): Promise<void> {
    await withFolder(async (folder) => {
      const [before, now] = [join(folder, "before"), join(folder, "now")];
      await Promise.all([mkdir(before), mkdir(now)]);
      const databases = new MemoryDatabases();
      const open = (root: string) =>
        openArchive(root, undefined, { store: storeIn(root, databases, "store") });
      await body({ open, before, now });
    });
  }

  async function archiveOne({ runner }: Opened, id: string): Promise<void> {
    const submission = await runner.submitMedia(intentOf(id, { origin: null }), [mediumOf(id)], null);
    await submission.end();
    submission.messageSent();
  }

  /** The first part of two: its job waits for the other one. */
  async function beginOne({ runner }: Opened): Promise<void> {
    const intent = intentOf("open", { origin: null, sequence: "s", waitMs: 60_000 });
    await runner.submitMedia(intent, [mediumOf("first")], { id: "s", index: 0, count: 2 });
  }

  async function finish({ runner }: Opened): Promise<void> {
    const [resumed] = [...runner.resume(() => true)];
    const intent = intentOf("open", { origin: null, sequence: "s", waitMs: 60_000 });
    const submission = await runner.submitMedia(intent, [mediumOf("second")], {
      id: "s",
      index: 1,
      count: 2,
    });
    assert.equal(resumed?.sendsMessage, false);
    assert.equal((await submission.end()).manifest.items.length, 2);
    submission.messageSent();
  }

  it("takes the new one as long as nothing is in the old one", async () => {
    await withStore(async ({ open, before, now }) => {
      await (await open(before)).close();
      const archive = await open(now);
      await archiveOne(archive, "1");
      await archive.close();
      assert.equal((await readPackages(now)).size, 1);
    });
  });

  it("is refused while its packages are in the old one, and writes nothing into the new one", async () => {
    await withStore(async ({ open, before, now }) => {
      const archive = await open(before);
      await archiveOne(archive, "1");
      await archive.close();
      const error = await rejectsWith(open(now), "ERR_STORE", "storeMoved");
      assert.deepEqual(error.values, { path: now, name: before });
      assert.deepEqual(await readdir(now), []);
      const again = await open(before);
      await archiveOne(again, "2");
      await again.close();
      assert.equal((await readPackages(before)).size, 2);
    });
  });

  it("is refused while jobs are open in the old one, and finishes them there", async () => {
    await withStore(async ({ open, before, now }) => {
      const archive = await open(before);
      await beginOne(archive);
      await archive.close();
      await rejectsWith(open(now), "ERR_STORE", "storeMoved");
      const again = await open(before);
      await finish(again);
      await again.close();
      assert.equal((await readPackages(before)).size, 1);
    });
  });

  it("goes on where everything was moved to, and not where only the packages were while jobs are open", async () => {
    await withStore(async ({ open, before, now }) => {
      const archive = await open(before);
      await archiveOne(archive, "1");
      await beginOne(archive);
      await archive.close();
      await cp(before, now, { recursive: true });
      await rename(join(now, stateFolderName), join(before, "aside"));
      await rejectsWith(open(now), "ERR_STORE", "storeMoved");
      await rename(join(before, "aside"), join(now, stateFolderName));
      await rm(before, { recursive: true });
      const moved = await open(now);
      await finish(moved);
      await moved.close();
      assert.equal((await readPackages(now)).size, 2);
      const said = await readLogged(now);
      assert.deepEqual(
        said.flatMap((event) => (event.what === "moved" ? [[event.from, event.to]] : [])),
        [[before, now]],
      );
      await (await open(now)).close();
      assert.equal((await readLogged(now)).filter(({ what }) => what === "moved").length, 1);
    });
  });

  it("is refused where a copy of the folder lacks what was archived since", async () => {
    await withStore(async ({ open, before, now }) => {
      const archive = await open(before);
      await archiveOne(archive, "1");
      await until(async () => (await workFolders(before)).length === 0, "the work folder is gone");
      await cp(before, now, { recursive: true });
      await archiveOne(archive, "2");
      await archive.close();
      await rejectsWith(open(now), "ERR_STORE", "storeMoved");
    });
  });
});
