import assert from "node:assert/strict";
import { readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { timestampArchive } from "../../src/index.ts";
import { sha256Of } from "../../src/model/sha256.ts";
import { type ArchiveDisk, plainDisk } from "../../src/vault/archive-disk.ts";
import { PackageTimestamps } from "../../src/vault/timestamps.ts";
import { postgresOptions } from "../database/databases.ts";
import { diskAround, withFolder } from "../media/support.ts";
import { WallClock } from "../model-based/wall-clock.ts";
import { useAuthority } from "../vault/timestamp/authority.ts";
import { fillArchive } from "./packages.ts";
import { openSharedStore } from "./shared-store.ts";
import { databaseOf } from "./store.ts";
import { openTwoWorkers } from "./two-workers.ts";

const minuteMs = 60_000;

describe("archive: the time stamp that covers a package", () => {
  const authority = useAuthority();

  const stamp = (root: string, database = databaseOf(root)) =>
    timestampArchive(root, { database, server: authority.url });
  const timestampsIn = (root: string, disk: ArchiveDisk = plainDisk) => {
    const timestamps = new PackageTimestamps({ root, disk }, { roots: [] });
    return async (path: string): Promise<number | undefined> => {
      const sha256 = sha256Of(await readFile(join(root, path, "manifest.json")));
      return (await timestamps.find({ path, sha256 })).timestamp?.links;
    };
  };
  /** A disk, and how many manifests were read from it. */
  const countingDisk = () => {
    const counted = { manifests: 0 };
    const disk: ArchiveDisk = diskAround(async ({ name, args: [path], run }) => {
      counted.manifests += name === "open" && String(path).endsWith("manifest.json") ? 1 : 0;
      return run();
    });
    return { counted, disk };
  };

  describe("after the clock was set back", () => {
    let clock: WallClock;
    beforeEach(() => {
      clock = new WallClock();
    });
    afterEach(() => clock.close());
    const archive = async (root: string, id: string): Promise<string> =>
      (await fillArchive(root, [id]))[0] ?? assert.fail();

    it("is found past an earlier package's one that looks later", () =>
      withFolder(async (root) => {
        await archive(root, "m0");
        await stamp(root);
        clock.jump(-minuteMs);
        const path = await archive(root, "m1");
        clock.jump(minuteMs);
        await archive(root, "m2");
        await stamp(root);
        assert.equal(await timestampsIn(root)(path), 1);
      }));

    it("is found through a later package that looks earlier", () =>
      withFolder(async (root) => {
        const path = await archive(root, "m0");
        clock.jump(-minuteMs);
        await archive(root, "m1");
        clock.jump(minuteMs);
        await archive(root, "m2");
        await stamp(root);
        assert.equal(await timestampsIn(root)(path), 2);
      }));

    it("is found if it is that of a later package that looks earlier", () =>
      withFolder(async (root) => {
        const path = await archive(root, "m0");
        clock.jump(-minuteMs);
        await archive(root, "m1");
        clock.jump(minuteMs);
        await stamp(root);
        assert.equal(await timestampsIn(root)(path), 1);
      }));
  });

  it("is found without reading the chains of other workers to their beginnings", () =>
    withFolder(async (root) => {
      const options = await postgresOptions();
      const first = await openSharedStore(root, options);
      const old = Array.from({ length: 20 }, (_, index) => `old${index}`);
      await fillArchive(root, old, () => ({}), { store: first.store });
      const { archive, close } = await openTwoWorkers(root, options);
      const path = await archive(0, "sought");
      const others: string[] = [];
      // The other chain's end is older, so it is time-stamped first.
      for (const id of ["other0", "other1"]) {
        others.push(await archive(1, id));
      }
      const last = await archive(0, "last");
      await stamp(root, options.address.url);
      await close();

      const { counted, disk } = countingDisk();
      const linksTo = timestampsIn(root, disk);
      assert.equal(await linksTo(path), 1);
      // Its own, the two of the other chain, the one before these, and the last one, which was time-stamped.
      assert.equal(counted.manifests, 5);
      assert.equal(await linksTo(others[0] ?? ""), 1);
      assert.equal(await linksTo(last), 0);
    }));

  it("is not found once a package on the way is gone, and what leads elsewhere is read once", () =>
    withFolder(async (root) => {
      const ids = Array.from({ length: 6 }, (_, index) => `m${index}`);
      const paths = await fillArchive(root, ids);
      const [oldest = "", second = "", third = "", fourth = ""] = paths;
      await stamp(root);
      const { counted, disk } = countingDisk();
      const linksTo = timestampsIn(root, disk);
      assert.equal(await linksTo(oldest), 5);
      await rename(join(root, third), join(root, "third"));
      assert.equal(await linksTo(oldest), undefined);
      assert.equal(await linksTo(second), undefined);
      counted.manifests = 0;
      assert.equal(await linksTo(second), undefined);
      // Its own, and for each of two looks the one that is not there.
      assert.ok(counted.manifests <= 3, String(counted.manifests));
      assert.equal(await linksTo(fourth), 2);
      await rename(join(root, "third"), join(root, third));
      assert.equal(await linksTo(oldest), 5);
    }));
});
