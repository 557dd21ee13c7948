import assert from "node:assert/strict";
import { join } from "node:path";
import type { ArchiveDisk } from "../../src/archive/archive-disk.ts";
import { watchedDisk, withFolder } from "../media/support.ts";
import { intentOf, mediumOf, openArchive, readPackages, type Opened } from "./support.ts";

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
});
