import assert from "node:assert/strict";
import { appendFile, cp, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { holdPackage } from "../../src/evidence/hold.ts";
import type { Archived } from "../../src/jobs/seal.ts";
import type { PrunedPackage } from "../../src/model/archive-reports.ts";
import { type ArchiveDisk, plainDisk } from "../../src/vault/archive-disk.ts";
import { pruneArchive, rebuildIndex } from "../../src/vault/commands.ts";
import { FolderFiles } from "../../src/vault/files/folder-files.ts";
import { openPlace } from "../../src/vault/open-place.ts";
import { Pruning } from "../../src/vault/prune.ts";
import { diskAround, systemError, withFolder } from "../media/support.ts";
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
  return said(pruned);
}

/** Prunes a folder with this disk; returns what became of each package, the shorter path first. */
async function pruneWith(folder: string, disk: ArchiveDisk): Promise<string[]> {
  const place = await openPlace(folder, { disk });
  const done: PrunedPackage[] = [];
  const before = new Date(Date.now() + 1_000);
  for await (const one of new Pruning(place, { before, isDryRun: false }).run()) {
    done.push(one);
  }
  return said(done);
}

function said(pruned: readonly PrunedPackage[]): string[] {
  return pruned.map(({ what, path }) => `${what} ${path}`).toSorted((a, b) => a.length - b.length);
}

async function holdOn({ path, sha256, manifest, folder }: Archived, root: string): Promise<void> {
  const change = { person: "Anna", reason: "claim 7" };
  await holdPackage({ location: path, folder, sha256, manifest }, change, new FolderFiles(root, plainDisk));
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

  for (const held of ["package", "supplement"] as const) {
    it(`are held with a package whose folder has another name by now: a hold on the ${held}`, async () => {
      await withFolder(async (root) => {
        const [first, second] = await complete(root);
        const name = basename(first.folder);
        // As where a disk has another spelling of a folder than the layout, in capital and small letters.
        const moved = join(root, "Renamed", name);
        await mkdir(dirname(moved));
        await rename(first.folder, moved);
        await writeFile(join(held === "package" ? moved : second.folder, "hold"), "claim 7");
        const both = [`held Renamed/${name}`, `held ${second.path}`];
        assert.deepEqual((await prune(root)).toSorted(), both.toSorted());
      });
    });
  }

  it("are held with a package whose manifest was changed", async () => {
    await withFolder(async (root) => {
      const [first, second] = await complete(root);
      await appendFile(join(first.folder, "manifest.json"), "\n");
      await writeFile(join(second.folder, "hold"), "claim 7");
      assert.deepEqual(await prune(root), [`held ${first.path}`, `held ${second.path}`]);
    });
  });

  const unread = { code: "ERR_FILE", sentence: "holdsUnread" } as const;

  for (const code of ["EIO", "ESTALE", "EACCES"]) {
    for (const name of ["opendir", "open"] as const) {
      it(`end a run that cannot read whether one is on hold: ${code} of ${name}`, async () => {
        await withFolder(async (root) => {
          const [first, second] = await complete(root);
          await writeFile(join(second.folder, "hold"), "claim 7");
          let isWell = false;
          const disk = diskAround(async (call) => {
            if (call.name === name && String(call.args[0]).startsWith(second.folder) && !isWell) {
              isWell = true;
              throw systemError(code);
            }
            return await call.run();
          });
          await assert.rejects(pruneWith(root, disk), unread);
          assert.deepEqual(await pruneWith(root, disk), [`held ${first.path}`, `held ${second.path}`]);
        });
      });
    }
  }

  it("end a run if the manifest of one that is on hold is damaged, and of no other folder", async () => {
    await withFolder(async (root) => {
      const [first, second] = await complete(root);
      await writeFile(join(second.folder, "manifest.json"), "{}");
      await writeFile(join(second.folder, "hold"), "claim 7");
      await assert.rejects(prune(root), unread);
      await rm(join(second.folder, "hold"));
      assert.deepEqual(await prune(root), [`deleted ${first.path}`]);
    });
  });

  for (const by of ["the evidence node", "hand"] as const) {
    for (const held of ["package", "supplement"] as const) {
      for (const moment of ["before a deletion", "when the other one has lost its name"] as const) {
        it(`are held if a hold is set on the ${held} by ${by} during a run: ${moment}`, async () => {
          await withFolder(async (root) => {
            const both = await complete(root);
            const [one, other] = held === "package" ? both : both.toReversed();
            assert.ok(one !== undefined && other !== undefined);
            const next = moment === "before a deletion" ? "open" : "rename";
            let isSet = false;
            const disk = diskAround(async (call) => {
              const result = await call.run();
              // The log of deleted packages is opened between the survey and a deletion.
              const isNow = next === "rename" || String(call.args[0]).endsWith("pruned.jsonl");
              if (call.name === next && isNow && !isSet) {
                isSet = true;
                await (by === "hand" ? writeFile(join(one.folder, "hold"), "") : holdOn(one, root));
              }
              return result;
            });
            assert.deepEqual(await pruneWith(other.folder, disk), [`held ${other.path}`]);
            assert.deepEqual((await verify(root)).said, []);
          });
        });
      }
    }
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
