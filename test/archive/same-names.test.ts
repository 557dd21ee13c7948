import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { ArchiveDisk } from "../../src/archive/archive-disk.ts";
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

/** The files of packages that are opened, without manifests. */
function watchMedia(root: string): { disk: ArchiveDisk; media: string[] } {
  const media: string[] = [];
  const disk = watchedDisk((call, [path]) => {
    const isPlaced = String(path).startsWith(join(root, ...folder));
    if (call === "open" && isPlaced && !String(path).endsWith("manifest.json")) {
      media.push(String(path));
    }
  });
  return { disk, media };
}

describe("archive: many packages of the same name", () => {
  it("are archived without reading the media of the earlier ones", async () => {
    await withFolder(async (root) => {
      const ids = Array.from({ length: 20 }, (_none, index) => `parcel ${index}`);
      const { disk, media } = watchMedia(root);
      const opened = await openArchive(root, undefined, { disk });
      const paths = await archive(opened, ids);
      await opened.close();
      assert.deepEqual(
        paths,
        ids.map((_id, index) => (index === 0 ? folder.join("/") : `${folder.join("/")} (${index})`)),
      );
      assert.deepEqual(media, []);
      assert.equal((await readPackages(root)).size, ids.length);
    });
  });

  it("are found by their job after a process has ended, also if earlier ones were deleted", async () => {
    await withFolder(async (root) => {
      const first = await openArchive(root, undefined);
      await archive(first, ["a", "b"]);
      const { path } = await (await submit(first, "c")).end();
      assert.equal(path, "dock-4/no-reference (2)");
      await first.close();
      await rm(join(root, "dock-4", "no-reference (1)"), { recursive: true });
      // As if the process had ended between the package and its row.
      const lease = await newDatabases().open({ kind: "file", file: databaseOf(root) });
      await lease.database.transaction([
        { sql: "DELETE FROM packages WHERE location = ?", values: [path] },
        {
          sql: "UPDATE jobs SET state = 'sealing', location = NULL, manifest_sha256 = NULL WHERE transaction_id = 'c'",
        },
      ]);
      await lease.release();
      const second = await openArchive("", undefined, { store: storeIn(root) });
      const [resumed] = second.runner.resume(isMine);
      assert.equal((await resumed?.end())?.path, path);
      resumed?.messageSent();
      await second.close();
      assert.deepEqual([...(await readPackages(root)).keys()].toSorted(), ["dock-4/no-reference", path]);
    });
  });
});
