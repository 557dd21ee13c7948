import assert from "node:assert/strict";
import { appendFile, cp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { rebuildIndex } from "../../src/vault/commands.ts";
import type { Manifest } from "../../src/vault/packages/manifest.ts";
import { withFolder } from "../media/support.ts";
import { fillArchive, verify } from "./packages.ts";
import { databaseOf } from "./store.ts";
import { sha256Of } from "./support.ts";

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

  const documents: Readonly<Record<string, readonly [text: string, said: string | null]>> = {
    JSON: [
      '{"errorCode":1203,"errorMessage":"image expired"}',
      "a JSON document: image expired (error code 1203)",
    ],
    XML: ["<Error><Code>X</Code><Message>No key</Message></Error>", "an XML document: No key"],
    "a web page": ["<!DOCTYPE html><title>Sign in</title>", "a web page: Sign in"],
    "a text": ["Internal error 17", "a text: Internal error 17"],
    "an unknown format": ["\0\x01\x02\x03", null],
  };
  for (const [what, [text, said]] of Object.entries(documents)) {
    it(`are said to have ${what} in place of a picture, where they call themselves complete`, async () => {
      await withEarlier(async (root) => {
        const name = join(root, last, "manifest.json");
        const earlier = await readFile(name, "utf8");
        const change = async (
          change: Partial<Manifest["items"][number]>,
          complete = true,
        ): Promise<string[]> => {
          const manifest = JSON.parse(earlier) as Manifest;
          const [item, ...others] = manifest.items;
          const content = { bytes: Buffer.byteLength(text), sha256: sha256Of(text), contentTypeFound: null };
          const items = [{ ...item, ...content, ...change }, ...others];
          await writeFile(name, JSON.stringify({ ...manifest, complete, items }));
          const { findings } = await verify(root, null);
          return findings
            .filter(({ kind }) => kind !== "incomplete")
            .map((one) => `${one.kind} ${one.path}: ${one.problem}`);
        };
        await writeFile(join(root, last, "item.jpg"), text);
        const finding = `document ${last}/item.jpg: this is not an image or a video, but ${said}`;
        const expected = said === null ? [] : [finding];
        assert.deepEqual(await change({}), expected);
        assert.deepEqual(await change({ source: "device", contentTypeAnnounced: null }), expected);
        // It says so itself, or nobody has called it a picture.
        assert.deepEqual(await change({}, false), []);
        assert.deepEqual(await change({ recognized: false }), []);
        assert.deepEqual(await change({ contentTypeAnnounced: "text/plain" }), []);
        assert.deepEqual(await change({ contentTypeAnnounced: "image/svg+xml" }), []);
      });
    });
  }

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
