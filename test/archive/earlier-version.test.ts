import assert from "node:assert/strict";
import { appendFile, cp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { rebuildIndex } from "../../src/vault/commands.ts";
import { withFolder } from "../media/support.ts";
import { fillArchive, verify } from "./packages.ts";
import { databaseOf } from "./store.ts";

/** Made by version 0.1.0 itself: three packages in two folders, and its journal. */
const fixture = join(import.meta.dirname, "archive-0.1");
const last = "2026-11-01/ORDER-1-1003";

async function withEarlier(body: (root: string) => Promise<void>): Promise<void> {
  await withFolder(async (root) => {
    await cp(fixture, root, { recursive: true });
    await body(root);
  });
}

describe("archive: packages of version 0.1", () => {
  it("are verified by their manifests and their chain; what only the journal knew is named", async () => {
    await withEarlier(async (root) => {
      const { report, findings, said } = await verify(root, null);
      assert.deepEqual(
        [findings, said, report.packages, report.files],
        [[], [`later-packages ${last}`], 3, 12],
      );
      assert.deepEqual(
        report.notes.map(({ kind, path }) => [kind, path]),
        [["earlier-version", ".dimensioner-archive/journal.jsonl"]],
      );
    });
  });

  it("are found out when they were changed or are missing", async () => {
    await withEarlier(async (root) => {
      await appendFile(join(root, "2026-11-01/ORDER-1-1001/item.jpg"), "x");
      await rm(join(root, "2026-11-02/ORDER-1-1002"), { recursive: true });
      const { said } = await verify(root, null);
      assert.deepEqual(said, [
        "changed 2026-11-01/ORDER-1-1001/item.jpg",
        `previous-missing ${last}`,
        `later-packages ${last}`,
      ]);
    });
  });

  it("lie beside those of a store, each with a chain of its own, and get into its index with a rebuild", async () => {
    await withEarlier(async (root) => {
      await fillArchive(root, ["m0", "m1"]);
      assert.deepEqual((await verify(root)).said, [`later-packages ${last}`]);
      const report = await rebuildIndex(root, { database: databaseOf(root) });
      assert.deepEqual([report.database, report.packages, report.notIndexed], ["completed", 5, 0]);
      const all = await verify(root);
      assert.deepEqual([all.report.verdict, all.said, all.report.expected], ["ok", [], 5]);
      const manifest = join(root, last, "manifest.json");
      await writeFile(manifest, (await readFile(manifest, "utf8")).replace("ORDER-1", "ORDER-2"));
      assert.deepEqual((await verify(root)).said, [`changed ${last}/manifest.json`]);
    });
  });
});
