import assert from "node:assert/strict";
import { appendFile, cp, mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { ToolThread } from "../../src/database/tool-database.ts";
import { holdPackage } from "../../src/evidence/hold.ts";
import type { Archived } from "../../src/jobs/seal.ts";
import type { PrunedPackage } from "../../src/model/archive-reports.ts";
import { type ArchiveDisk, plainDisk } from "../../src/vault/archive-disk.ts";
import { pruneArchive, rebuildIndex } from "../../src/vault/upkeep/upkeep.ts";
import { FolderVault } from "../../src/vault/folder/folder-vault.ts";
import { openScope } from "../../src/vault/open-vault.ts";
import { Pruning } from "../../src/vault/upkeep/prune.ts";
import { diskAround, systemError, withFolder } from "../media/support.ts";
import { changeDatabase, verify } from "./packages.ts";
import { ScriptedCloud } from "./scripted-sources.ts";
import { databaseOf, storeIn } from "./store.ts";
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
  await pruneArchive(root, { before, database: databaseOf(root), onPackage: (one) => pruned.push(one) });
  return said(pruned);
}

/** Prunes a folder with this disk; returns what became of each package, the shorter path first. */
async function pruneWith(folder: string, disk: ArchiveDisk, root = folder): Promise<string[]> {
  const scope = await openScope(folder, { disk });
  const done: PrunedPackage[] = [];
  const before = new Date(Date.now() + 1_000);
  const thread = new ToolThread();
  try {
    const options = { before, database: databaseOf(root), thread, isDryRun: false };
    for await (const one of new Pruning(scope, options).run()) {
      done.push(one);
    }
  } finally {
    await thread.close();
  }
  return said(done);
}

function said(pruned: readonly PrunedPackage[]): string[] {
  return pruned.map(({ what, path }) => `${what} ${path}`).toSorted((a, b) => a.length - b.length);
}

async function holdOn({ path, sha256, manifest, folder }: Archived, root: string): Promise<void> {
  const change = { person: "Anna", reason: "claim 7" };
  const { release, ...connection } = await storeIn(root).connect();
  const target = { ...connection, vault: new FolderVault(root, plainDisk) };
  await holdPackage({ location: path, folder, sha256, manifest }, change, target);
  await release();
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

  it("stay with a package that is not where the index has it", async () => {
    await withFolder(async (root) => {
      const [first, second] = await complete(root);
      const moved = join(root, "Renamed", basename(first.folder));
      await mkdir(dirname(moved));
      await rename(first.folder, moved);
      await writeFile(join(second.folder, "hold"), "claim 7");
      assert.deepEqual(await prune(root), [`kept ${first.path}`, `held ${second.path}`]);
    });
  });

  it("are held with a package of which only the manifest still says that they belong together", async () => {
    await withFolder(async (root) => {
      const [first, second] = await complete(root);
      await holdOn(first, root);
      changeDatabase(databaseOf(root), "UPDATE packages SET supplements_sha256 = NULL");
      assert.deepEqual(await prune(root), [`held ${first.path}`, `kept ${second.path}`]);
    });
  });

  it("are held with a package whose manifest was changed", async () => {
    await withFolder(async (root) => {
      const [first, second] = await complete(root);
      await appendFile(join(first.folder, "manifest.json"), "\n");
      await writeFile(join(second.folder, "hold"), "claim 7");
      assert.deepEqual(await prune(root), [`kept ${first.path}`, `held ${second.path}`]);
    });
  });

  for (const code of ["EIO", "ESTALE", "EACCES"]) {
    for (const name of ["opendir", "open"] as const) {
      it(`stay while it cannot be read whether one is on hold: ${code} of ${name}`, async () => {
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
          assert.ok((await pruneWith(root, disk)).every((one) => !one.startsWith("deleted")));
          assert.deepEqual(await pruneWith(root, disk), [`held ${first.path}`, `held ${second.path}`]);
        });
      });
    }
  }

  it("stay if the manifest of one that is on hold is damaged", async () => {
    await withFolder(async (root) => {
      const [first, second] = await complete(root);
      await writeFile(join(second.folder, "manifest.json"), "{}");
      await writeFile(join(second.folder, "hold"), "claim 7");
      assert.deepEqual(await prune(root), [`held ${first.path}`, `kept ${second.path}`]);
      await rm(join(second.folder, "hold"));
      assert.deepEqual(await prune(root), [`deleted ${first.path}`, `kept ${second.path}`]);
    });
  });

  for (const held of ["package", "supplement"] as const) {
    it(`are held if a hold is set on the ${held} when a run has found no reason to keep the other one`, async () => {
      await withFolder(async (root) => {
        const both = await complete(root);
        const [one, other] = held === "package" ? both : both.toReversed();
        assert.ok(one !== undefined && other !== undefined);
        let isSet = false;
        const disk = diskAround(async (call) => {
          const result = await call.run();
          if (call.name === "readdir" && String(call.args[0]) === one.folder && !isSet) {
            isSet = true;
            await holdOn(one, root);
          }
          return result;
        });
        assert.deepEqual(await pruneWith(other.folder, disk, root), [`held ${other.path}`]);
        assert.ok(isSet);
        assert.deepEqual((await verify(root)).said, []);
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
