import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  appendFile,
  cp,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import type { Finding } from "../../src/model/archive-reports.ts";
import { withFolder } from "../media/support.ts";
import { verifyArchive } from "../../src/vault/upkeep/upkeep.ts";
import { fillArchive, verify } from "./packages.ts";
import { bundleVerb, runChild, type Script } from "./processes.ts";
import { databaseOf } from "./store.ts";
import { pictureOf, type intentOf } from "./support.ts";

async function fill(
  root: string,
  count: number,
  more: Parameters<typeof intentOf>[1] = {},
): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, index) => `m${index}`);
  return fillArchive(root, ids, () => more);
}

const kindsOf = (findings: readonly Finding[]): string[] =>
  findings.map(({ kind, path }) => `${kind} ${path}`).sort();

describe("archive: dimensioner verify", () => {
  it("finds nothing in an archive that nobody has touched", async () => {
    await withFolder(async (root) => {
      const paths = await fill(root, 3);
      await writeFile(join(root, paths[0] ?? "", "hold"), "case 12");
      const { findings, report } = await verify(root);
      assert.deepEqual(findings, []);
      const { verdict, packages, files, expected, notes } = report;
      assert.deepEqual([verdict, packages, files, expected, notes], ["ok", 3, 9, 3, []]);
    });
  });

  it("does not look into what the system keeps in the root of a disk, where nobody else may", async () => {
    await withFolder(async (root) => {
      await fill(root, 1);
      for (const name of ["lost+found", "System Volume Information", "$RECYCLE.BIN"]) {
        await mkdir(join(root, name));
        await writeFile(join(root, name, "x"), "");
      }
      const { findings, report } = await verify(root);
      assert.deepEqual(findings, []);
      assert.equal(report.verdict, "ok");
    });
  });

  const damages: readonly (readonly [
    what: string,
    damage: (path: string, root: string) => Promise<unknown>,
    kinds: readonly string[],
  ])[] = [
    [
      "a changed byte",
      (path) => writeFile(join(path, "item.jpg"), pictureOf("m1 X")),
      ["changed P/item.jpg"],
    ],
    ["a cut file", (path) => truncate(join(path, "item.jpg"), 3), ["changed P/item.jpg"]],
    ["a lost file", (path) => rm(join(path, "item-2.jpg")), ["missing P/item-2.jpg"]],
    [
      "a link instead of a file",
      async (path) => {
        await rename(join(path, "item.jpg"), join(path, "..", "..", "aside"));
        await symlink(join(path, "..", "..", "aside"), join(path, "item.jpg"));
      },
      ["missing P/item.jpg", "stray aside"],
    ],
    [
      "a pipe instead of a file",
      async (path) => {
        await rm(join(path, "item.jpg"));
        execFileSync("mkfifo", [join(path, "item.jpg")]);
      },
      ["missing P/item.jpg"],
    ],
    ["a stray in a package", (path) => writeFile(join(path, "note.txt"), ""), ["stray P/note.txt"]],
    [
      "a stray beside packages",
      (path) => writeFile(join(path, "..", "x.part"), ""),
      ["stray 2026-11-02/x.part"],
    ],
    [
      "a changed raw measurement",
      (path) => appendFile(join(path, "measurement.raw"), " "),
      ["changed P/measurement.raw"],
    ],
    ["a manifest that is none", (path) => writeFile(join(path, "manifest.json"), "{}"), ["manifest P"]],
    [
      "a manifest that was rewritten",
      async (path) => {
        const file = join(path, "manifest.json");
        await writeFile(file, (await readFile(file, "utf8")).replace("ORDER-1", "ORDER-2"));
      },
      ["changed P/manifest.json"],
    ],
    ["a deleted package", (path) => rm(path, { recursive: true }), ["missing-package P"]],
    [
      "a package in the trash, and other things there, that no log says were deleted",
      async (path, root) => {
        const trash = join(root, ".dimensioner-archive/trash");
        await mkdir(join(trash, "letters"), { recursive: true });
        await writeFile(join(trash, "letters", "letter"), "");
        await rename(path, join(trash, "package"));
        await writeFile(join(trash, "file"), "");
      },
      [
        "missing-package P",
        "stray .dimensioner-archive/trash/file",
        "stray .dimensioner-archive/trash/letters",
        "stray .dimensioner-archive/trash/package",
      ],
    ],
    [
      "a trash that is a link",
      (path, root) => symlink(path, join(root, ".dimensioner-archive/trash")),
      ["stray .dimensioner-archive/trash"],
    ],
  ];
  for (const [what, damage, kinds] of damages) {
    it(`finds ${what}`, async () => {
      await withFolder(async (root) => {
        const paths = await fill(root, 3);
        await damage(join(root, paths[1] ?? ""), root);
        const expected = kinds.map((kind) =>
          kind.replace(" P", ` ${paths[1]}`).replace(" N", ` ${paths[2]}`),
        );
        for (const mayBlock of [false, true]) {
          const { findings } = await verify(root, databaseOf(root), { mayBlock });
          assert.deepEqual(kindsOf(findings), expected.sort());
        }
      });
    });
  }

  it("hears while it waits for the disk itself that it should stop", async () => {
    await withFolder(async (root) => {
      await mkdir(join(root, ".dimensioner-archive"));
      const strays = 2_000;
      for (let index = 0; index < strays; index += 1) {
        await mkdir(join(root, String(index)));
        await writeFile(join(root, String(index), "x"), "");
      }
      const stopping = new AbortController();
      let found = 0;
      const verified = verifyArchive(root, {
        mayBlock: true,
        signal: stopping.signal,
        onFinding: () => {
          found += 1;
          setImmediate(() => stopping.abort());
        },
      });
      await assert.rejects(verified, { code: "ERR_CANCELLED" });
      assert.ok(found < strays, `${found} findings`);
    });
  });

  it("says what a package was kept without", async () => {
    await withFolder(async (root) => {
      await fill(root, 1, { expect: ["video/mp4"], onIncomplete: "keep" });
      const { findings } = await verify(root);
      assert.equal(findings[0]?.kind, "incomplete");
      assert.match(findings[0].problem, /video\/mp4/);
    });
  });

  it("checks a part of an archive, and a package that was copied out of it", async () => {
    await withFolder(async (root) => {
      const archive = join(root, "archive");
      await mkdir(archive);
      const paths = await fill(archive, 2);
      const part = await verify(join(archive, "2026-11-02"), databaseOf(archive));
      assert.deepEqual([part.said, part.report.expected], [[], 2]);
      const copy = join(root, "copy");
      await cp(join(archive, paths[1] ?? ""), copy, { recursive: true });
      const { findings, report } = await verify(copy, null);
      assert.deepEqual([findings, report.packages], [[], 1]);
      await rm(join(copy, "item.jpg"));
      const damaged = await verify(copy, null);
      assert.deepEqual([damaged.said[0], damaged.report.packages], ["missing item.jpg", 1]);
    });
  });

  it("takes no package of an archive within for its own", async () => {
    await withFolder(async (root) => {
      await fill(root, 1);
      await mkdir(join(root, "inner"));
      await fill(join(root, "inner"), 2);
      const { findings } = await verify(root);
      assert.deepEqual(findings, [
        { kind: "stray", path: "inner", problem: "this is a separate archive: verify it on its own" },
      ]);
      assert.deepEqual((await verify(join(root, "inner"))).findings, []);
    });
  });

  describe("on the command line", () => {
    let script: Script;

    before(async () => {
      script = await bundleVerb("verify");
    });

    it("exits with 0 and a sentence, with 1 and what is wrong, with 2 where it cannot look", async () => {
      await withFolder(async (root) => {
        const [path = ""] = await fill(root, 2);
        const database = databaseOf(root);
        const good = await runChild(script, [root, "--database", database]);
        assert.equal(good.code, 0);
        const log = "the log: 2 packages, 0 pruned, 0 on hold; no time stamp covers any of them\n";
        assert.ok(good.stdout.startsWith(`${root}: ${log}`), good.stdout);
        assert.match(good.stdout, /2 packages, 6 files, \d+ bytes: everything is as it was archived\n$/);
        await writeFile(join(root, path, "item.jpg"), "x");
        const bad = await runChild(script, [root, "--database", database]);
        assert.equal(bad.code, 1);
        assert.match(bad.stdout, /item\.jpg: the file has 1 bytes instead of \d+\n.*\n.*1 finding\n$/);
        for (const args of [
          [],
          [join(root, "gone")],
          [root, root],
          [root, "--what"],
          [join(root, path, "item.jpg")],
          [""],
        ]) {
          const wrong = await runChild(script, args);
          assert.deepEqual([wrong.code, wrong.stdout], [2, ""], args.join(" "));
          assert.match(wrong.stderr, /^dimensioner verify: [^\n]+\n$/);
          assert.doesNotMatch(wrong.stderr, /ENO|\ufffd/);
        }
        const { stderr } = await runChild(script, [join(root, "gone")]);
        assert.match(stderr, /The folder \S+gone does not exist\. Create it or mount its share/);
        assert.match((await runChild(script, ["--help"])).stdout, /^Usage/);
      });
    });

    it("prints one JSON object, and can let incomplete packages pass", async () => {
      await withFolder(async (root) => {
        await fill(root, 2, { expect: ["video/mp4"], onIncomplete: "keep" });
        const bad = await runChild(script, [root, "--database", databaseOf(root), "--json"]);
        const report = JSON.parse(bad.stdout) as Record<string, unknown>;
        assert.equal(bad.code, 1);
        assert.equal((report["findings"] as Finding[]).length, 2);
        assert.deepEqual(
          [report["packages"], report["files"], report["incomplete"], report["ok"]],
          [2, 6, 2, false],
        );
        const good = await runChild(script, [
          root,
          "--database",
          databaseOf(root),
          "--json",
          "--allow-incomplete",
        ]);
        assert.equal(good.code, 0);
        assert.equal((JSON.parse(good.stdout) as { ok: boolean }).ok, true);
      });
    });
  });

  it("leaves the archive as it was", async () => {
    await withFolder(async (root) => {
      await fill(root, 1);
      const before = await readdir(root, { recursive: true });
      await verify(root);
      assert.deepEqual(await readdir(root, { recursive: true }), before);
    });
  });
});
