import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { ArchiveDisk } from "../../src/vault/archive-disk.ts";
import { watchedDisk, withFolder } from "../media/support.ts";
import { databaseOf, newDatabases, storeIn } from "./store.ts";
import { intentOf, mediumOf, openArchive, readPackages, type Opened } from "./support.ts";

const isMine = (): boolean => true;
const folder = ["dock-4", "no-reference"];

async function submit({ runner }: Opened, id: string) {
  const raw = `{"id":"${id}"}`;
  return await runner.submitMedia(intentOf(id, { origin: null, raw, folder }), [mediumOf(id)], null);
}

/** Archives parcels one after the other, all in folders of the same name; returns their paths. */
async function archive(opened: Opened, ids: readonly string[]): Promise<string[]> {
  const paths: string[] = [];
  for (const id of ids) {
    const submission = await submit(opened, id);
    paths.push((await submission.end()).path);
    submission.messageSent();
  }
  return paths;
}

/** The files of packages that are opened, without manifests, and the names that are tried. */
function watch(root: string): { disk: ArchiveDisk; media: string[]; tried: string[] } {
  const [media, tried]: [string[], string[]] = [[], []];
  const disk = watchedDisk((call, [path, to]) => {
    if (call === "rename" && String(to).startsWith(join(root, ...folder))) {
      tried.push(String(to));
    }
    const isPlaced = String(path).startsWith(join(root, ...folder));
    if (call === "open" && isPlaced && !String(path).endsWith("manifest.json")) {
      media.push(String(path));
    }
  });
  return { disk, media, tried };
}

describe("archive: many packages of the same name", () => {
  it("are archived without reading the media of the earlier ones, or trying all their numbers again", async () => {
    await withFolder(async (root) => {
      const ids = Array.from({ length: 20 }, (_none, index) => `parcel ${index}`);
      const { disk, media, tried } = watch(root);
      const opened = await openArchive(root, undefined, { disk });
      const paths = await archive(opened, ids);
      await opened.close();
      assert.deepEqual(
        paths,
        ids.map((_id, index) => (index === 0 ? folder.join("/") : `${folder.join("/")} (${index})`)),
      );
      assert.deepEqual(media, []);
      // The second one learns that the name is taken.
      assert.equal(tried.length, ids.length + 1);
      assert.equal((await readPackages(root)).size, ids.length);
    });
  });

  it("are found by another process with a database of its own, whatever it has archived since", async () => {
    await withFolder(async (root) => {
      const other = join(root, ".dimensioner-archive", "other.sqlite");
      const [one, two] = [
        await openArchive(root, undefined),
        await openArchive("", undefined, { store: storeIn(root, newDatabases(), other) }),
      ];
      await archive(one, ["a", "b"]);
      assert.deepEqual(await archive(two, ["c"]), ["dock-4/no-reference (2)"]);
      assert.deepEqual(await archive(one, ["d"]), ["dock-4/no-reference (3)"]);
      assert.deepEqual(await archive(two, ["e", "a", "d"]), [
        "dock-4/no-reference (4)",
        "dock-4/no-reference",
        "dock-4/no-reference (3)",
      ]);
      assert.deepEqual(await archive(one, ["c", "e"]), [
        "dock-4/no-reference (2)",
        "dock-4/no-reference (4)",
      ]);
      await Promise.all([one.close(), two.close()]);
      assert.equal((await readPackages(root)).size, 5);
    });
  });

  it("use the numbers of deleted ones again after a restart", async () => {
    await withFolder(async (root) => {
      const first = await openArchive(root, undefined);
      await archive(first, ["a", "b", "c"]);
      // As dimensioner prune deletes it.
      await rm(join(root, "dock-4", "no-reference (1)"), { recursive: true });
      assert.deepEqual(await archive(first, ["d"]), ["dock-4/no-reference (3)"]);
      await first.close();
      const second = await openArchive(root, undefined);
      const paths = await archive(second, ["e", "f"]);
      assert.deepEqual(paths, ["dock-4/no-reference (1)", "dock-4/no-reference (4)"]);
      await second.close();
      assert.equal((await readPackages(root)).size, 5);
    });
  });

  // A job that need not wait is sealed from `accepted`.
  for (const state of ["sealing", "accepted"]) {
    it(`are found by their job after a process has ended, also if earlier ones were deleted (${state})`, async () => {
      await withFolder(async (root) => {
        const first = await openArchive(root, undefined);
        await archive(first, ["a", "b"]);
        const { path } = await (await submit(first, "c")).end();
        assert.equal(path, "dock-4/no-reference (2)");
        await first.close();
        await rm(join(root, "dock-4", "no-reference (1)"), { recursive: true });
        // As if the process had ended between the package and its row.
        const connection = await newDatabases().open({ kind: "file", file: databaseOf(root) });
        await connection.database.transaction([
          { sql: "DELETE FROM packages WHERE location = ?", values: [path] },
          {
            sql: "UPDATE jobs SET state = ?, location = NULL, manifest_sha256 = NULL WHERE transaction_id = 'c'",
            values: [state],
          },
        ]);
        await connection.release();
        const second = await openArchive("", undefined, { store: storeIn(root) });
        const [resumed] = second.runner.resume(isMine);
        assert.equal((await resumed?.end())?.path, path);
        resumed?.messageSent();
        await second.close();
        assert.deepEqual([...(await readPackages(root)).keys()].toSorted(), ["dock-4/no-reference", path]);
      });
    });
  }
});
