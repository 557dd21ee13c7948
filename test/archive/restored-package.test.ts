import assert from "node:assert/strict";
import { cp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pruneArchive } from "../../src/index.ts";
import { withFolder } from "../media/support.ts";
import { copiesOfArchive, verify } from "./packages.ts";

describe("archive: a package that was deleted by age, and is there again from a backup", () => {
  const archive = copiesOfArchive(["m0", "m1"]);

  const withRestored = (body: (root: string, database: string, path: string) => Promise<void>) =>
    archive.withArchive((root, database) =>
      withFolder(async (backup) => {
        const [path = ""] = archive.paths;
        await cp(join(root, path), join(backup, "m0"), { recursive: true });
        const { archived } = JSON.parse(
          await readFile(join(root, archive.paths[1] ?? "", "manifest.json"), "utf8"),
        ).times;
        assert.equal((await pruneArchive(root, { before: new Date(archived), database })).deleted, 1);
        await cp(join(backup, "m0"), join(root, path), { recursive: true });
        await body(root, database, path);
      }),
    );

  it("is verified like any other", () =>
    withRestored(async (root, database, path) => {
      assert.deepEqual((await verify(root, [database])).said, []);
      const picture = (await readdir(join(root, path))).find((name) => name.endsWith(".jpg")) ?? "";
      await rm(join(root, path, picture));
      for (const databases of [[database], null]) {
        const { report, findings } = await verify(root, databases);
        assert.deepEqual(
          findings.map((one) => `${one.kind} ${one.path}`),
          [`missing ${path}/${picture}`],
        );
        assert.equal(report.packages, 2);
      }
    }));

  it("is found out if its manifest was changed", () =>
    withRestored(async (root, database, path) => {
      const manifest = join(root, path, "manifest.json");
      await writeFile(manifest, (await readFile(manifest, "utf8")).replace("ORDER-1", "ORDER-2"));
      const { said } = await verify(root, [database]);
      assert.ok(said.includes(`changed ${path}/manifest.json`), said.join());
    }));
});
