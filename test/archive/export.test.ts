import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { appendFileSync } from "node:fs";
import { appendFile, mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { exportPackages, saveExport } from "../../src/evidence/export/export-packages.ts";
import { withPackages } from "../../src/evidence/packages.ts";
import type { ArchiveProgress, Finding } from "../../src/model/archive-reports.ts";
import type { VerifyResult } from "../../src/model/shapes.ts";
import { languages } from "../../src/rules/languages.ts";
import { verifyArchive } from "../../src/vault/upkeep/upkeep.ts";
import { bundledNode } from "../../tools/bundled-node.ts";
import { listAll, untilListed, withFolder } from "../media/support.ts";
import { changeDatabase, copiesOfArchive, fillArchive } from "./packages.ts";
import { readZip } from "./read-zip.ts";
import { databaseOf } from "./store.ts";
import { sha256Of } from "./support.ts";

const now = new Date("2026-11-22T10:00:00Z");
const measurement = JSON.stringify({
  length: 33.5,
  width: 21,
  height: 12.5,
  dimsUnitOfMeasure: "cm",
  weight: 1.27,
  weightUnitOfMeasure: "kg",
});

interface Made {
  readonly path: string;
  readonly sha256: string;
  readonly verification: VerifyResult;
  /** The files of the ZIP by their names. */
  readonly files: ReadonlyMap<string, Buffer>;
  text(name: string): string;
}

interface Given {
  readonly value?: string;
  readonly filename?: string;
  readonly language?: (typeof languages)[number];
  readonly at?: Date;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: ArchiveProgress) => void;
}

function withPackagesOf<T>(
  root: string,
  value: string | undefined,
  work: Parameters<typeof withPackages<T>>[2],
): Promise<T> {
  const place = { folder: root, database: databaseOf(root), operation: "export" };
  const by = value === undefined ? "all" : "transactionId";
  return withPackages(place, { by, value, limit: 100 }, work);
}

async function exported(root: string, to: string, given: Given = {}): Promise<Made> {
  const { value, filename = "a.zip", language = "en-US", at = now, signal, onProgress } = given;
  const target = { folder: to, filename, ifExists: "rename" } as const;
  const { output, verification } = await withPackagesOf(root, value, (archive, packages) =>
    saveExport(archive, packages, {
      language,
      target,
      signal,
      onProgress: onProgress ?? (() => undefined),
      now: () => at,
    }),
  );
  const files = new Map((await readZip(output.path)).map(({ name, content }) => [name, content]));
  return {
    ...output,
    verification,
    files,
    text: (name) => files.get(name)?.toString() ?? assert.fail(`no ${name}`),
  };
}

async function extract(zip: string, folder: string): Promise<void> {
  for (const { name, content } of await readZip(zip)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
}

/** Compares each file with the list of hashes, as sha256sum does. */
function checkSums({ files, text }: Made): void {
  const sums = new Map(
    text("SHA256SUMS")
      .trim()
      .split("\n")
      .map((line) => [line.slice(66), line.slice(0, 64)] as const),
  );
  for (const [name, content] of files) {
    assert.equal(sums.get(name), name === "SHA256SUMS" ? undefined : sha256Of(content), name);
  }
  assert.equal(sums.size, files.size - 1);
}

/** What a report says, without its tags and its style sheet. */
function said(page: string): string {
  return page
    .slice(page.indexOf("<body>"))
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ");
}

describe("archive: an export", () => {
  const archive = copiesOfArchive(["m0", "m1", "m2"]);
  const folderOf = (index: number): string => archive.paths[index] ?? "";

  it("has the packages as they are, a report about each and about all, and the hashes of everything", () =>
    withFolder((to) =>
      archive.withArchive(async (root) => {
        const made = await exported(root, to);
        const names = [...made.files.keys()];
        assert.deepEqual(names.slice(0, 5), [
          "report.html",
          "reports/1-ORDER-1.html",
          "reports/2-ORDER-1.html",
          "reports/3-ORDER-1.html",
          "verification.json",
        ]);
        assert.equal(names.at(-1), "SHA256SUMS");
        checkSums(made);
        for (const [index, path] of archive.paths.entries()) {
          for (const name of await readdir(join(root, path))) {
            const content = await readFile(join(root, path, name));
            assert.ok(made.files.get(`packages/${path}/${name}`)?.equals(content), `${index} ${name}`);
          }
        }
        const verification = JSON.parse(made.text("verification.json")) as VerifyResult;
        assert.deepEqual(verification, made.verification);
        assert.deepEqual([verification.verdict, verification.packages], ["ok", 3]);
        assert.match(said(made.text("report.html")), /3 packages.*As archived/);
        // The extracted packages are an archive that can be verified again.
        await extract(made.path, join(to, "x"));
        const again = await verifyArchive(join(to, "x", "packages"), {});
        assert.deepEqual([again.findings, again.packages], [0, 3]);
        const check = () =>
          spawnSync("sha256sum", ["-c", "SHA256SUMS"], { cwd: join(to, "x"), encoding: "utf8" });
        // Where there is no sha256sum, checkSums has compared the same.
        if (check().error === undefined) {
          assert.equal(check().status, 0);
          await appendFile(join(to, "x", "report.html"), " ");
          const { status, stdout } = check();
          assert.deepEqual([status, stdout.match(/^.*: FAILED$/gm)], [1, ["report.html: FAILED"]]);
        }
      }),
    ));

  it("is verified where it was extracted, without the packages around it", () =>
    withFolder((to) =>
      archive.withArchive(async (root) => {
        const target = { folder: to, filename: "a.zip", ifExists: "rename" } as const;
        const options = {
          language: "en-US",
          target,
          signal: undefined,
          onProgress: () => undefined,
        } as const;
        const { output } = await withPackagesOf(root, undefined, (vault, packages) =>
          saveExport(
            vault,
            packages.filter(({ path }) => path !== folderOf(1)),
            options,
          ),
        );
        const folder = join(to, "x");
        await extract(output.path, folder);
        const check = async (of = folder) => {
          const findings: string[] = [];
          const onFinding = ({ kind, path }: Finding): unknown => findings.push(`${kind} ${path}`);
          return { ...(await verifyArchive(of, { onFinding })), findings };
        };
        for (const named of [folder, join(folder, "packages")]) {
          const { verdict, findings, notes, unchecked } = await check(named);
          // Nothing shows since when they are as they are.
          assert.deepEqual(
            [verdict, findings, notes, unchecked.map(({ kind, path }) => `${kind} ${path}`)],
            ["unchecked", [], [], ["no-timestamps proof"]],
          );
        }
        await appendFile(join(folder, "report.html"), "<p>nothing is wrong</p>");
        await rm(join(folder, "verification.json"));
        await writeFile(join(folder, "reports", "added.html"), "");
        const manifest = join(folder, "packages", folderOf(2), "manifest.json");
        await writeFile(manifest, (await readFile(manifest, "utf8")).replace("ORDER-1", "ORDER-2"));
        const { verdict, findings } = await check();
        assert.equal(verdict, "wrong");
        assert.deepEqual(findings.sort(), [
          `changed packages/${folderOf(2)}/manifest.json`,
          "changed report.html",
          "missing verification.json",
          "missing-package proof/log",
          `not-logged packages/${folderOf(2)}`,
          "stray reports/added.html",
        ]);
        await writeFile(join(folder, "SHA256SUMS"), `${"0".repeat(64)}  ../secret\n`);
        assert.ok(
          !(await check()).findings.join().includes("secret"),
          "nothing outside of the export is read",
        );
      }),
    ));

  it("has the same bytes again, but for the time of its verification", () =>
    withFolder((to) =>
      archive.withArchive(async (root) => {
        const first = await exported(root, to);
        const same = await exported(root, to, { filename: "b.zip" });
        assert.equal(same.sha256, first.sha256);
        const later = await exported(root, to, { filename: "c.zip", at: new Date(now.getTime() + 1_000) });
        const different = [...later.files].filter(([name, bytes]) => !first.files.get(name)?.equals(bytes));
        assert.deepEqual(
          different.map(([name]) => name).filter((name) => name.startsWith("packages/")),
          [],
        );
        const time = /2026-11-2\d[T ]\d\d:\d\d:0\d(?:\.000)?/g;
        for (const [name, bytes] of different.filter(([one]) => one !== "SHA256SUMS")) {
          assert.equal(String(bytes).replace(time, ""), first.text(name).replace(time, ""), name);
        }
      }),
    ));

  it("has the same bytes on the oldest and on the newest Node.js, in each language", async function () {
    const nodes = [bundledNode(22), bundledNode(24)];
    if (nodes.includes(undefined)) {
      this.skip();
    }
    await withFolder((to) =>
      archive.withArchive(async (root) => {
        const child = join(import.meta.dirname, "export-child.ts");
        const made = nodes.map((node) => {
          // With local times of a zone whose difference from UTC is no whole hour.
          const env = { ...process.env, TZ: "America/St_Johns" };
          const { stdout, stderr } = spawnSync(node ?? "", [child, root, to], { encoding: "utf8", env });
          return { hashes: stdout.trim(), stderr };
        });
        assert.match(made[0]?.hashes ?? "", /"zh-TW":"[0-9a-f]{64}"/, made[0]?.stderr);
        assert.equal(made[1]?.hashes, made[0]?.hashes, made[1]?.stderr);
      }),
    );
  });

  const findings: readonly {
    readonly what: string;
    readonly change: (folder: string, root: string) => Promise<unknown>;
    readonly says: RegExp;
    readonly kind: string;
  }[] = [
    {
      what: "a changed picture, which it does not show",
      change: async (folder) => {
        const [name = ""] = (await readdir(folder)).filter((one) => one.endsWith(".jpg"));
        await appendFile(join(folder, name), "!");
      },
      says: /Not as archived .*\.jpg: the content of this file is not what was archived\..* Not shown, because/,
      kind: "changed",
    },
    {
      what: "a missing picture",
      change: async (folder) => {
        const [name = ""] = (await readdir(folder)).filter((one) => one.endsWith(".jpg"));
        await rm(join(folder, name));
      },
      says: /Not as archived .*\.jpg: this file is missing\./,
      kind: "missing",
    },
    {
      what: "a changed measurement, whose figures it does not show",
      change: async (folder) => {
        await writeFile(join(folder, "measurement.json"), measurement.replace("33.5", "30.5"));
      },
      says: /measurement\.json: the content .* Length × width × height Not shown, because/,
      kind: "changed",
    },
    {
      what: "a changed manifest",
      change: async (folder) => {
        const file = join(folder, "manifest.json");
        await writeFile(file, (await readFile(file, "utf8")).replace('"ORDER-1"', '"ORDER-2"'));
      },
      says: /Not as archived .*manifest\.json: this is not the manifest that was archived/,
      kind: "manifest",
    },
    {
      what: "a manifest that is none",
      change: (folder) => writeFile(join(folder, "manifest.json"), "{}"),
      says: /Not as archived .*manifest\.json: this is not the manifest that was archived/,
      kind: "manifest",
    },
    {
      what: "a file that does not belong there, and leaves it out",
      change: (folder) => writeFile(join(folder, "added.jpg"), "?"),
      says: /Not as archived .*added\.jpg: this does not belong to the package/,
      kind: "stray",
    },
    {
      what: "a package that is gone",
      change: (folder) => rm(folder, { recursive: true }),
      says: /Not as archived .*The package is missing/,
      kind: "missing-package",
    },
    {
      what: "a changed row of the index",
      change: async (_folder, root) =>
        changeDatabase(databaseOf(root), "UPDATE packages SET device = 'other' WHERE transaction_id = 'm1'"),
      says: /Not as archived .*The index of the archive says something else than the manifest of this package\./,
      kind: "index",
    },
    {
      what: "a package that the log does not know",
      change: async (_folder, root) =>
        changeDatabase(databaseOf(root), "UPDATE log SET package_id = 'other' WHERE package_id IS NOT NULL"),
      says: /Not as archived .*The log of the archive does not know this package in this place\..* Line in the log none/,
      kind: "not-logged",
    },
  ];
  for (const { what, change, says, kind } of findings) {
    it(`says first: ${what}`, () =>
      withFolder((to) =>
        withFolder(async (root) => {
          const paths = await fillArchive(root, ["m0", "m1", "m2"], () => ({ measurement }));
          await change(join(root, paths[1] ?? ""), root);
          const made = await exported(root, to, { value: "m1" });
          assert.deepEqual([made.verification.verdict, made.verification.findings[0]?.kind], ["wrong", kind]);
          assert.match(said(made.text("report.html")), says);
          assert.doesNotMatch([...made.files.keys()].join(), /added/);
          checkSums(made);
        }),
      ));
  }

  it("says before anything else that no time stamp covers a package, and names its line in the log", () =>
    withFolder((to) =>
      archive.withArchive(async (root) => {
        const page = said((await exported(root, to, { value: "m1" })).text("report.html"));
        assert.match(page, /^ Evidence report ORDER-1 No time stamp covers this package Whoever can write /);
        assert.match(page, / SHA-256 of manifest\.json [0-9a-f]{64} Line in the log 3 /);
      }),
    ));

  it("is not made of files that change meanwhile", () =>
    withFolder((to) =>
      archive.withArchive(async (root) => {
        const picture = join(root, folderOf(0), "image.jpg");
        const [name = ""] = (await readdir(dirname(picture))).filter((one) => one.endsWith(".jpg"));
        let isChanged = false;
        const making = exported(root, to, {
          onProgress: () => {
            if (!isChanged) {
              appendFileSync(join(dirname(picture), name), "!");
            }
            isChanged = true;
          },
        });
        await assert.rejects(making, { code: "ERR_FILE", sentence: "exportChanging" });
        assert.deepEqual(await listAll(to), []);
      }),
    ));

  it("leaves nothing behind when it is cancelled, verifying or writing", () =>
    withFolder((to) =>
      archive.withArchive(async (root) => {
        for (const isWriting of [false, true]) {
          const stop = new AbortController();
          const making = exported(root, to, {
            signal: stop.signal,
            onProgress: ({ expectedBytes }) => (expectedBytes !== null) === isWriting && stop.abort(),
          });
          await assert.rejects(making, { code: "ERR_CANCELLED" });
          await untilListed(to, []);
        }
      }),
    ));

  it("is never saved between the packages, nor over another file", () =>
    withFolder((to) =>
      archive.withArchive(async (root) => {
        for (const folder of [root, join(root, dirname(folderOf(0)))]) {
          await assert.rejects(exported(root, folder), { code: "ERR_CONFIG", sentence: "exportInArchive" });
        }
        await writeFile(join(to, "a.zip"), "mine");
        const { path } = await exported(root, to);
        assert.equal(path, join(to, "a (1).zip"));
        assert.equal(await readFile(join(to, "a.zip"), "utf8"), "mine");
      }),
    ));

  it("into memory ends with ERR_TOO_LARGE above its limit", () =>
    archive.withArchive(async (root) => {
      const make = (limitBytes: number) =>
        withPackagesOf(root, undefined, (vault, packages) =>
          exportPackages(vault, packages, {
            language: "en-US",
            target: { limitBytes },
            signal: undefined,
            onProgress: () => undefined,
            now: () => now,
          }),
        );
      const { output } = await make(1024 * 1024);
      assert.ok("content" in output);
      assert.equal(output.filename, "evidence-ORDER-1.zip");
      assert.equal((await make(output.content.length)).verification.verdict, "ok");
      await assert.rejects(make(output.content.length - 1), { code: "ERR_TOO_LARGE" });
    }));

  it("has short names for packages whose folders Windows could not extract, and none twice", () =>
    withFolder((to) =>
      withFolder(async (root) => {
        const folders = [["a".repeat(150), "b".repeat(150)], ["Order-1"], ["ORDER-1"]];
        await fillArchive(root, ["m0", "m1", "m2"], (_id, index) => ({ folder: folders[index] ?? [] }));
        const made = await exported(root, to);
        const names = [...made.files.keys()].filter((one) => one.startsWith("packages/"));
        assert.ok(names.every((name) => name.length < 150));
        const small = names.map((name) => name.toLowerCase());
        assert.equal(new Set(small).size, names.length);
        assert.equal(names.filter((name) => /\/b+~[0-9a-f]{8}\//.test(name)).length, 4);
        const folder = join(to, "x");
        await extract(made.path, folder);
        const { verdict, packages } = await verifyArchive(folder, {});
        assert.deepEqual([verdict, packages], ["unchecked", 3]);
        // Where there is Python, its script knows the short names as well; no time stamp covers these packages.
        const { stdout } = spawnSync("python3", [join(folder, "proof", "check.py")], { encoding: "utf8" });
        assert.doesNotMatch(stdout ?? "", /manifest\.json: |no manifest names/);
      }),
    ));

  it("reads nothing outside of the folder of packages", () =>
    withFolder((to) =>
      archive.withArchive(async (root, file) => {
        await writeFile(join(to, "manifest.json"), "secret");
        changeDatabase(file, `UPDATE packages SET location = '../${to.slice(to.lastIndexOf("/") + 1)}'`);
        const made = await exported(root, to, { value: "m1" });
        assert.deepEqual(
          [...made.files.keys()].filter((name) => !name.startsWith("proof/")),
          ["report.html", "verification.json", "SHA256SUMS"],
        );
        assert.equal(made.verification.findings[0]?.kind, "missing-package");
      }),
    ));

  it("shows hostile texts as texts", () =>
    withFolder((to) =>
      withFolder(async (root) => {
        const hostile = `"><script>alert(1)</script>\u202Efdp.exe ${"x".repeat(10_000)}`;
        const references = {
          transactionReference: hostile,
          customReference1: "<img src=x onerror=alert(1)>",
          customReference2: "a\u0000b\u2028c\uD800",
          customReference3: "__list__ ${1} $& </style>",
          barcodeReference: "javascript:alert(1)",
        };
        const explanation = "<b>'\"&";
        const billable = {
          weight: 1,
          unit: "kg",
          basis: "actual",
          explanation,
          ruleId: "x",
          ruleDate: null,
        } as const;
        await fillArchive(root, ["m0"], () => ({
          references,
          device: "</title><script>",
          billable: { ...billable, legalForTrade: "unknown", computed: true },
        }));
        const made = await exported(root, to);
        const page = made.text("report.html");
        assert.doesNotMatch(page, /<script|<img src=x|<b>'|javascript:alert\(1\)"/i);
        assert.equal(page.match(/<\/style>/g)?.length, 1);
        assert.doesNotMatch(page, /[\u202A-\u202E\u2066-\u2069\u2028]/);
        assert.ok(!page.includes("\0"));
        assert.match(page, /&lt;script&gt;alert\(1\)&lt;\/script&gt;⟨U\+202E⟩fdp\.exe/);
        assert.match(page, /10036 characters; all of them are in manifest\.json/);
        assert.ok(page.length < 40_000, String(page.length));
        checkSums(made);
      }),
    ));

  it("has its reports in each language", () =>
    withFolder((to) =>
      archive.withArchive(async (root) => {
        const pages = new Set<string>();
        for (const language of languages) {
          const page = (await exported(root, to, { language, filename: language })).text("report.html");
          assert.match(page, new RegExp(`<html lang="${language}">`));
          assert.doesNotMatch(said(page), /__\w+__/);
          pages.add(said(page));
        }
        assert.equal(pages.size, languages.length);
      }),
    ));
});
