import assert from "node:assert/strict";
import { appendFile, mkdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { saveExport } from "../../src/evidence/export/export-packages.ts";
import { withPackages } from "../../src/evidence/packages.ts";
import { withFolder } from "../media/support.ts";
import { copiesOfArchive, verify } from "./packages.ts";
import { readZip } from "./read-zip.ts";
import { databaseOf } from "./store.ts";

async function exportTo(folder: string, root: string): Promise<void> {
  const place = { folder: root, database: databaseOf(root), operation: "export" };
  const path = await withPackages(
    place,
    { by: "all", value: undefined, limit: 100 },
    async (vault, found) => {
      const target = { folder: dirname(folder), filename: "a.zip", ifExists: "rename" } as const;
      const onProgress = () => undefined;
      const options = { language: "en-US", target, signal: undefined, onProgress } as const;
      return (await saveExport(vault, found, options)).output.path;
    },
  );
  for (const { name, content } of await readZip(path)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content);
  }
}

describe("archive: an extracted export that was changed", () => {
  const archive = copiesOfArchive(["m0", "m1"]);

  it("cannot say of its packages that they were deleted because of their age", () =>
    withFolder((to) =>
      archive.withArchive(async (root) => {
        const folder = join(to, "claim");
        await exportTo(folder, root);
        const [path = ""] = archive.paths;
        const manifest = await readFile(join(folder, "packages", path, "manifest.json"));
        const { items } = JSON.parse(String(manifest)) as { items: { path: string }[] };
        const [lost = "", changed = ""] = items.map((item) => item.path);
        await rm(join(folder, "packages", path, lost));
        await appendFile(join(folder, "packages", path, changed), "!");
        const state = join(folder, "packages", ".dimensioner-archive");
        await mkdir(state);
        await writeFile(join(state, "note"), "");
        for (const named of [folder, join(folder, "packages")]) {
          const { report, said } = await verify(named, null);
          assert.equal(report.verdict, "wrong");
          assert.deepEqual(said.toSorted(), [
            `changed ${path}/${changed}`,
            `missing ${path}/${lost}`,
            "no-timestamps proof",
            "stray packages/.dimensioner-archive",
          ]);
        }
      }),
    ));

  it("has no holds, so one in a package was added", () =>
    withFolder((to) =>
      archive.withArchive(async (root) => {
        const folder = join(to, "claim");
        const [path = ""] = archive.paths;
        await writeFile(join(root, path, "hold.txt"), "claim");
        await exportTo(folder, root);
        assert.deepEqual((await verify(folder, null)).said, ["no-timestamps proof"]);
        await writeFile(join(folder, "packages", path, "Hold.txt"), "added");
        assert.deepEqual((await verify(folder, null)).said, [
          `stray packages/${path}/Hold.txt`,
          "no-timestamps proof",
        ]);
      }),
    ));

  it("ends where a file is so long that nobody could read it", () =>
    withFolder((to) =>
      archive.withArchive(async (root) => {
        const folder = join(to, "claim");
        await exportTo(folder, root);
        for (const name of ["proof/log", "report.html"]) {
          await truncate(join(folder, name), 2 ** 41);
        }
        const { said } = await verify(folder, null);
        assert.ok(
          said.includes("changed proof/log") && said.includes("changed report.html"),
          said.join("\n"),
        );
      }),
    ));

  it("is told from the archive in whose folder it was extracted", () =>
    withFolder((to) =>
      archive.withArchive(async (root) => {
        await mkdir(join(to, ".dimensioner-archive"));
        const folder = join(to, "claims", "claim");
        await mkdir(dirname(folder));
        await exportTo(folder, root);
        const { report, said } = await verify(folder, null);
        assert.deepEqual([report.verdict, report.packages, said], ["unchecked", 2, ["no-timestamps proof"]]);
      }),
    ));
});
