import assert from "node:assert/strict";
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pruneArchive, rebuildIndex } from "../../src/archive/maintenance/commands.ts";
import type { Archived } from "../../src/archive/jobs/sealing.ts";
import type { PrunedPackage } from "../../src/model/archive-reports.ts";
import { withFolder } from "../media/support.ts";
import { verify } from "./packages.ts";
import { ScriptedCloud } from "./scripted-sources.ts";
import { databaseOf } from "./store.ts";
import { intentOf, openArchive } from "./support.ts";

const image = { id: "ColorImageJpeg", type: "image/jpeg" };
const video = { id: "ColorVideoMp4", type: "video/mp4" };
const wanted = { expect: ["image/jpeg", "video/mp4"], raw: "{}", onIncomplete: "keep" } as const;

async function archive(root: string, cloud: ScriptedCloud): Promise<Archived> {
  const opened = await openArchive(root, undefined, { cloud: () => cloud });
  const submission = await opened.runner.submit(intentOf("1", { ...wanted, expect: [...wanted.expect] }));
  const archived = await submission.end();
  submission.messageSent();
  await opened.close();
  return archived;
}

/** A package that lacks its video, and the supplement that brings it. */
async function complete(root: string): Promise<readonly [Archived, Archived]> {
  const first = await archive(root, new ScriptedCloud(image));
  assert.equal(first.complete, false);
  assert.deepEqual((await verify(root)).said, [`incomplete ${first.path}`]);
  const second = await archive(root, new ScriptedCloud(image, video));
  assert.equal(second.manifest.supplements?.sha256, first.sha256);
  return [first, second];
}

describe("archive: supplements in the commands that look after packages", () => {
  it("make up for what their package lacks when it is verified", async () => {
    await withFolder(async (root) => {
      await complete(root);
      const { report, said } = await verify(root);
      assert.deepEqual([report.verdict, report.incomplete, said], ["ok", 0, []]);
    });
  });

  it("are found again in a database that was made anew from the packages", async () => {
    await withFolder(async (root) => {
      const [first] = await complete(root);
      for (const name of await readdir(join(root, ".dimensioner-archive"))) {
        if (name.startsWith("store.sqlite")) {
          await rm(join(root, ".dimensioner-archive", name));
        }
      }
      await rebuildIndex(root, { database: databaseOf(root) });
      const again = await archive(root, new ScriptedCloud());
      assert.deepEqual([again.wasThere, again.complete, again.path], [true, true, first.path]);
      assert.equal(again.packages.length, 2);
    });
  });

  it("are held with their package, and pruned with it otherwise", async () => {
    await withFolder(async (root) => {
      const [first, second] = await complete(root);
      await writeFile(join(first.folder, "hold"), "claim 7");
      const prune = async (): Promise<string[]> => {
        const pruned: PrunedPackage[] = [];
        const onPackage = (one: PrunedPackage): void => void pruned.push(one);
        await pruneArchive(root, { before: new Date(Date.now() + 1_000), onPackage });
        return pruned.map(({ what, path }) => `${what} ${path}`).toSorted((a, b) => a.length - b.length);
      };
      assert.deepEqual(await prune(), [`held ${first.path}`, `held ${second.path}`]);
      await rm(join(first.folder, "hold"));
      assert.deepEqual(await prune(), [`deleted ${first.path}`, `deleted ${second.path}`]);
    });
  });
});
