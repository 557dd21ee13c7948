import assert from "node:assert/strict";
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Finding, Unchecked, Verdict } from "../../src/archive/packages/finding.ts";
import { Verification } from "../../src/archive/packages/verify.ts";
import { bundle, runChild } from "../archive/processes.ts";
import { intentOf, openArchive, pictureOf } from "../archive/support.ts";
import { withFolder } from "../media/support.ts";

const state = ".dimensioner-archive";

/** An archive of some packages on several days. Returns their paths in the order of their chain. */
async function fill(root: string, count: number, prefix = "m"): Promise<string[]> {
  const { runner, close } = await openArchive(root, undefined);
  const paths: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const id = `${prefix}${index}`;
    const folder = [`2026-11-0${1 + (index % 3)}`, id];
    const media = [
      { content: pictureOf(id), contentType: null, contentId: null, description: null, filename: null },
    ];
    const submission = await runner.submitMedia(intentOf(id, { source: "message", folder }), media, null);
    paths.push((await submission.end()).path);
    submission.messageSent();
  }
  await close();
  return paths;
}

interface Report {
  readonly verdict: Verdict;
  readonly findings: readonly Finding[];
  readonly unchecked: readonly Unchecked[];
  /** All that is said, as "kind path". */
  readonly said: readonly string[];
}

async function verify(folder: string): Promise<Report> {
  const verification = new Verification(folder);
  const findings: Finding[] = [];
  for await (const finding of verification.run()) {
    findings.push(finding);
  }
  const { unchecked } = verification;
  const said = [...findings, ...unchecked].map(({ kind, path }) => `${kind} ${path}`);
  return { verdict: verification.verdict(findings.length), findings, unchecked, said };
}

/** Numbers that come again with the same seed. */
function randomOf(seed: number): (below: number) => number {
  let at = seed;
  return (below) => {
    at = (at * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((at / 2_147_483_648) * below);
  };
}

describe("A5: an archive with missing packages never passes verify", function () {
  this.timeout(30_000);

  it("an empty folder is no archive", async () => {
    await withFolder(async (root) => {
      const { verdict, said } = await verify(root);
      assert.deepEqual([verdict, said], ["unchecked", ["no-packages "]]);
    });
  });

  it("a folder of other files is no archive either, however many they are", async () => {
    await withFolder(async (root) => {
      await Promise.all(
        Array.from({ length: 1_100 }, (_, index) => writeFile(join(root, `${index}.txt`), "")),
      );
      const { verdict, said } = await verify(root);
      assert.deepEqual([verdict, said], ["unchecked", ["no-packages "]]);
    });
  });

  it("an archive that has archived nothing yet has nothing to show", async () => {
    await withFolder(async (root) => {
      await fill(root, 0);
      const { verdict, said } = await verify(root);
      assert.deepEqual([verdict, said], ["unchecked", ["no-packages "]]);
    });
  });

  it("a plain copy without the index: its files and its chain are checked, the rest is said", async () => {
    await withFolder(async (root) => {
      const paths = await fill(root, 6);
      await rm(join(root, state), { recursive: true });
      const { verdict, said } = await verify(root);
      assert.deepEqual([verdict, said], ["unchecked", [`later-packages ${paths[5]}`]]);
    });
  });

  it("a copy of one day of an archive says what lies before and after", async () => {
    await withFolder(async (folder) => {
      const archive = join(folder, "archive");
      await mkdir(archive);
      await fill(archive, 6);
      await cp(join(archive, "2026-11-02"), join(folder, "copy"), { recursive: true });
      const { verdict, said } = await verify(join(folder, "copy"));
      // Of every third package each but the oldest lacks the one before it.
      assert.deepEqual(
        [verdict, said],
        ["wrong", ["previous-missing m4", "earlier-packages m1", "later-packages m4"]],
      );
    });
  });

  it("a missing first, middle and last package", async () => {
    const cases = [
      { lost: 0, withIndex: ["missing-package P0", "previous-missing P1"], without: "earlier-packages P1" },
      { lost: 3, withIndex: ["missing-package P3", "previous-missing P4"], without: "previous-missing P4" },
      { lost: 5, withIndex: ["missing-package P5"], without: "later-packages P4" },
    ];
    for (const { lost, withIndex, without } of cases) {
      await withFolder(async (root) => {
        const paths = await fill(root, 6);
        const named = (text: string): string => text.replace(/P(\d)/, (_all, at: string) => paths[+at] ?? "");
        await rm(join(root, paths[lost] ?? ""), { recursive: true });
        const { verdict, said } = await verify(root);
        assert.deepEqual([verdict, said], ["wrong", withIndex.map(named)]);
        await rm(join(root, state), { recursive: true });
        const copy = await verify(root);
        assert.notEqual(copy.verdict, "ok");
        assert.ok(copy.said.includes(named(without)), copy.said.join());
      });
    }
  });

  it("two chains, two beginnings and a circle of names are told", async () => {
    await withFolder(async (root) => {
      const paths = await fill(root, 2);
      await cp(join(root, paths[1] ?? ""), join(root, "2026-11-02/copy"), { recursive: true });
      assert.ok((await verify(root)).said.some((one) => one.startsWith("two-successors ")));
    });
    await withFolder(async (root) => {
      await fill(root, 2);
      await rm(join(root, state), { recursive: true });
      await fill(root, 1, "again");
      const { verdict, said } = await verify(root);
      assert.equal(verdict, "wrong");
      assert.ok(
        said.some((one) => one.startsWith("begun-twice ")),
        said.join(),
      );
    });
    await withFolder(async (root) => {
      const [first = "", second = ""] = await fill(root, 2);
      const manifestOf = (path: string): string => join(root, path, "manifest.json");
      const { previous } = JSON.parse(await readFile(manifestOf(second), "utf8")) as { previous: object };
      const circle = JSON.parse(await readFile(manifestOf(first), "utf8")) as object;
      const turned = { ...circle, previous: { ...previous, path: `${second}/manifest.json` } };
      await writeFile(manifestOf(first), JSON.stringify(turned));
      await rm(join(root, state), { recursive: true });
      const { verdict, said } = await verify(root);
      assert.equal(verdict, "wrong");
      assert.ok(said.some((one) => one.startsWith("previous-changed ") || one.startsWith("two-successors ")));
    });
  });

  it("a manifest that was rewritten is told also where it is the last", async () => {
    await withFolder(async (root) => {
      const paths = await fill(root, 2);
      const manifest = join(root, paths[1] ?? "", "manifest.json");
      await writeFile(manifest, (await readFile(manifest, "utf8")).replace("ORDER-1", "ORDER-2"));
      const { verdict, said } = await verify(root);
      assert.deepEqual([verdict, said], ["wrong", [`changed ${paths[1]}/manifest.json`]]);
    });
  });

  it("an index that is empty, cut or of an older backup is told", async () => {
    await withFolder(async (root) => {
      await fill(root, 2);
      const index = join(root, state, "journal.jsonl");
      const older = await readFile(index);
      const later = await fill(root, 3, "later");
      await writeFile(index, older);
      const { verdict, said } = await verify(root);
      assert.deepEqual(
        [verdict, [...said].sort()],
        ["wrong", later.map((path) => `unlisted ${path}`).sort()],
      );
      for (const content of ["", "x\n", older.subarray(0, 20)]) {
        await writeFile(index, content);
        assert.equal((await verify(root)).verdict, "wrong");
      }
    });
  });

  it("each of 60 random deletions is found or named as not checkable", async () => {
    const random = randomOf(20_261_122);
    await withFolder(async (folder) => {
      const archive = join(folder, "archive");
      await mkdir(archive);
      const paths = await fill(archive, 12);
      for (let round = 0; round < 60; round += 1) {
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
          const victim = random(3) === 0 ? join(path, names[random(names.length)] ?? "") : path;
          await rm(join(root, victim), { recursive: true, force: true });
          lost.add(victim);
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
      const script = await bundle("src/archive/cli/verify-cli.ts");
      await withFolder(async (root) => {
        const empty = await runChild(script, [root]);
        assert.equal(empty.code, 2);
        assert.match(empty.stdout, /no package here, and no index.*\n.*nothing was verified\n$/);
        const paths = await fill(root, 3);
        assert.equal((await runChild(script, [root])).code, 0);
        await rename(join(root, state), join(root, "..", `${root.split("/").at(-1)}-state`));
        const copy = await runChild(script, [root, "--json"]);
        assert.equal(copy.code, 2);
        const report = JSON.parse(copy.stdout) as Record<string, unknown>;
        assert.deepEqual([report["verdict"], report["ok"], report["findings"]], ["unchecked", false, []]);
        assert.deepEqual(
          (report["unchecked"] as Unchecked[]).map(({ kind, path }) => [kind, path]),
          [["later-packages", paths[2]]],
        );
        await rm(join(root, paths[1] ?? ""), { recursive: true });
        const gone = await runChild(script, [root]);
        assert.equal(gone.code, 1);
        assert.match(gone.stdout, /is not here\n.*: not checked: .*\n.*: 1 finding; not checked: 1 thing/);
        await rm(`${root}-state`, { recursive: true });
      });
    });
  });
});
