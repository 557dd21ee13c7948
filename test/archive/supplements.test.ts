import assert from "node:assert/strict";
import { cp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { pruneArchive, rebuildIndex } from "../../src/archive/maintenance/commands.ts";
import type { Archived } from "../../src/archive/jobs/seal/job-results.ts";
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

/** Prunes what was archived before; returns what became of each package, the shorter path first. */
async function prune(root: string, before = new Date(Date.now() + 1_000)): Promise<string[]> {
  const pruned: PrunedPackage[] = [];
  await pruneArchive(root, { before, onPackage: (one) => pruned.push(one) });
  return pruned.map(({ what, path }) => `${what} ${path}`).toSorted((a, b) => a.length - b.length);
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

  for (const held of ["package", "supplement"] as const) {
    it(`are held with their package, and it with them: a hold on the ${held}`, async () => {
      await withFolder(async (root) => {
        const [first, second] = await complete(root);
        const hold = join((held === "package" ? first : second).folder, "hold");
        await writeFile(hold, "claim 7");
        const both = [first.path, second.path];
        assert.deepEqual(
          await prune(root),
          both.map((path) => `held ${path}`),
        );
        await rm(hold);
        assert.deepEqual(
          await prune(root),
          both.map((path) => `deleted ${path}`),
        );
      });
    });
  }

  it("are a finding when their package is gone, unless it was pruned", async () => {
    await withFolder(async (root) => {
      const [first, second] = await complete(root);
      const away = join(root, "..", `${basename(root)}-away`);
      await rename(first.folder, away);
      const alone = await verify(root);
      assert.ok(alone.said.includes(`base-missing ${second.path}`), alone.said.join());
      assert.equal(alone.report.verdict, "wrong");
      await rename(away, first.folder);
      // The first one is a moment older than the second one.
      await prune(root, new Date(second.manifest.times.archived));
      assert.deepEqual((await verify(root)).said, []);
    });
  });

  it("are not called whole in a copy without their package", async () => {
    await withFolder(async (root) => {
      const [first, second] = await complete(root);
      await withFolder(async (copies) => {
        await cp(second.folder, join(copies, "copy"), { recursive: true });
        const { report, said } = await verify(copies, null);
        assert.equal(report.verdict, "unchecked");
        assert.ok(said.includes("base-package copy"), said.join());
        await cp(first.folder, join(copies, first.path), { recursive: true });
        assert.ok(!(await verify(copies, null)).said.includes("base-package copy"));
      });
    });
  });
});
