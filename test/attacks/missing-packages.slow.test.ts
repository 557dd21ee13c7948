import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { cp, mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Unchecked } from "../../src/model/archive-reports.ts";
import { rebuildIndex } from "../../src/vault/upkeep/upkeep.ts";
import { changeDatabase, fillArchive, verify as verifyWith } from "../archive/packages.ts";
import { bundleVerb, runChild } from "../archive/processes.ts";
import { databaseOf } from "../archive/store.ts";
import { withFolder } from "../media/support.ts";

const state = ".dimensioner-archive";

/** An archive of some packages on several days. Returns their paths in the order of their chain. */
async function fill(root: string, count: number, prefix = "m"): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, index) => `${prefix}${index}`);
  return fillArchive(root, ids, (id, index) => ({ folder: [`2026-11-0${1 + (index % 3)}`, id] }));
}

/** Verifies with the archive's database, where it is there. */
async function verify(root: string) {
  const { report, said } = await verifyWith(root, existsSync(databaseOf(root)) ? databaseOf(root) : null);
  return { verdict: report.verdict, said };
}

/** Numbers that come again with the same seed. */
function randomOf(seed: number): (below: number) => number {
  let at = seed;
  return (below) => {
    at = (at * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((at / 2_147_483_648) * below);
  };
}

describe("A5: dimensioner verify and missing packages", () => {
  it("says that an empty folder is no archive", async () => {
    await withFolder(async (root) => {
      const { verdict, said } = await verify(root);
      assert.deepEqual([verdict, said], ["unchecked", ["no-packages "]]);
    });
  });

  it("says that a folder of other files is no archive, however many there are", async () => {
    await withFolder(async (root) => {
      await Promise.all(
        Array.from({ length: 1_100 }, (_, index) => writeFile(join(root, `${index}.txt`), "")),
      );
      const { verdict, said } = await verify(root);
      assert.deepEqual([verdict, said], ["unchecked", ["no-packages "]]);
    });
  });

  it("says that there is nothing to verify in an archive without packages", async () => {
    await withFolder(async (root) => {
      await fill(root, 0);
      const { verdict, said } = await verify(root);
      assert.deepEqual([verdict, said], ["unchecked", ["no-packages "]]);
    });
  });

  it("checks the files of a copy without the log and the index, and says what it cannot check", async () => {
    await withFolder(async (root) => {
      const paths = await fill(root, 6);
      await rm(join(root, state), { recursive: true });
      const { verdict, said } = await verify(root);
      assert.deepEqual([verdict, said], ["unchecked", [`later-packages ${paths[5]}`]]);
    });
  });

  it("reports a missing first, middle and last package, with the index and without it", async () => {
    for (const lost of [0, 3, 5]) {
      await withFolder(async (root) => {
        const paths = await fill(root, 6);
        await rm(join(root, paths[lost] ?? ""), { recursive: true });
        const { verdict, said } = await verify(root);
        assert.deepEqual([verdict, said], ["wrong", [`missing-package ${paths[lost]}`]]);
        await rm(databaseOf(root));
        const copy = await verify(root);
        assert.deepEqual([copy.verdict, copy.said[0]], ["wrong", `missing-package ${paths[lost]}`]);
      });
    }
  });

  it("reports a copy of a package, and what a database that was put back does not list", async () => {
    await withFolder(async (root) => {
      const paths = await fill(root, 2);
      await cp(join(root, paths[1] ?? ""), join(root, "2026-11-02/copy"), { recursive: true });
      assert.deepEqual((await verify(root)).said[0], "not-logged 2026-11-02/copy");
    });
    await withFolder(async (root) => {
      await fill(root, 0);
      const empty = await readFile(databaseOf(root));
      const paths = await fill(root, 2);
      await writeFile(databaseOf(root), empty);
      await fill(root, 1, "again");
      const { verdict, said } = await verify(root);
      assert.deepEqual(
        [verdict, said.toSorted()],
        ["wrong", paths.map((path) => `unlisted ${path}`).toSorted()],
      );
    });
  });

  it("reports a rewritten manifest, also if it is the last one", async () => {
    await withFolder(async (root) => {
      const paths = await fill(root, 2);
      const manifest = join(root, paths[1] ?? "", "manifest.json");
      await writeFile(manifest, (await readFile(manifest, "utf8")).replace("ORDER-1", "ORDER-2"));
      const { verdict, said } = await verify(root);
      assert.deepEqual([verdict, said], ["wrong", [`changed ${paths[1]}/manifest.json`]]);
    });
  });

  it("reports an index that is damaged or of an older backup", async () => {
    await withFolder(async (root) => {
      await fill(root, 2);
      const index = databaseOf(root);
      const older = await readFile(index);
      const later = await fill(root, 3, "later");
      await writeFile(index, older);
      const { verdict, said } = await verify(root);
      assert.deepEqual(
        [verdict, [...said].sort()],
        ["wrong", [`database ${index}`, ...later.map((path) => `unlisted ${path}`)].sort()],
      );
      for (const content of ["x\n", older.subarray(0, 20_000)]) {
        await writeFile(index, content);
        assert.equal((await verify(root)).verdict, "wrong");
      }
    });
  });

  it("reports a row that was removed from the index", async () => {
    await withFolder(async (root) => {
      const paths = await fill(root, 3);
      changeDatabase(databaseOf(root), `DELETE FROM packages WHERE location = '${paths[1]}'`);
      const { verdict, said } = await verify(root);
      assert.deepEqual([verdict, said], ["wrong", [`unlisted ${paths[1]}`]]);
    });
  });

  it("finds a package that is missing between two stores by the log alone", async () => {
    await withFolder(async (root) => {
      const paths = await fill(root, 2);
      await rm(databaseOf(root));
      await rebuildIndex(root, { database: databaseOf(root) });
      await fill(root, 2, "later");
      assert.deepEqual(await verify(root), { verdict: "ok", said: [] });
      await rm(databaseOf(root));
      await rm(join(root, paths[1] ?? ""), { recursive: true });
      const { verdict, said } = await verify(root);
      assert.equal(verdict, "wrong");
      assert.equal(said[0], `missing-package ${paths[1]}`);
    });
  });

  it("reports each of 30 random deletions, or that it cannot be checked", async () => {
    const random = randomOf(20_261_122);
    await withFolder(async (folder) => {
      const archive = join(folder, "archive");
      await mkdir(archive);
      const paths = await fill(archive, 12);
      for (let round = 0; round < 30; round += 1) {
        const root = join(folder, "round");
        await cp(archive, root, { recursive: true });
        const hasState = random(2) === 0;
        if (!hasState) {
          await rm(join(root, state), { recursive: true });
        }
        const lost = new Set<string>();
        for (let more = random(4); more >= 0; more -= 1) {
          const path = paths[random(paths.length)] ?? "";
          const names = await readdir(join(root, path)).catch(() => []);
          const chosen = random(3) === 0 ? join(path, names[random(names.length)] ?? "") : path;
          await rm(join(root, chosen), { recursive: true, force: true });
          lost.add(chosen);
        }
        const { verdict, said } = await verify(root);
        const what = `round ${round}, ${hasState ? "with" : "without"} index, lost ${[...lost].join()}`;
        assert.equal(verdict === "ok", false, what);
        // With the index nothing is left to guess; without it the end of the chain always is.
        assert.ok(
          hasState ? verdict === "wrong" : said.some((one) => one.startsWith("later-packages ")),
          `${what}: ${said.join()}`,
        );
        await rm(root, { recursive: true });
      }
    });
  });

  describe("on the command line", () => {
    it("exits with 2, and says in sentences and as data what was not checked", async () => {
      const script = await bundleVerb("verify");
      await withFolder(async (root) => {
        const empty = await runChild(script, [root]);
        assert.equal(empty.code, 2);
        assert.match(empty.stdout, /no packages here: this is not an archive.*\n.*nothing was verified\n$/);
        const paths = await fill(root, 3);
        assert.equal((await runChild(script, [root, "--database", databaseOf(root)])).code, 0);
        const alone = await runChild(script, [root, "--json"]);
        assert.equal(alone.code, 2);
        const report = JSON.parse(alone.stdout) as Record<string, unknown>;
        assert.deepEqual([report["verdict"], report["ok"], report["findings"]], ["unchecked", false, []]);
        assert.deepEqual(
          (report["unchecked"] as Unchecked[]).map(({ kind, path }) => [kind, path]),
          [["later-packages", paths[2]]],
        );
        await rm(join(root, paths[1] ?? ""), { recursive: true });
        const gone = await runChild(script, [root]);
        assert.equal(gone.code, 1);
        assert.match(
          gone.stdout,
          /was not pruned\n.*: not checked: .*\n.*: the log: .*\n.*: 1 finding; not checked: 1 thing/,
        );
      });
    });
  });
});
