import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { readManifest, writeManifest } from "../../src/vault/packages/manifest.ts";
import { plainDisk } from "../../src/vault/archive-disk.ts";
import { readPlain, readWhole } from "../../src/vault/packages/package-files.ts";
import { withFolder } from "../media/support.ts";
import { intentOf, openArchive, pictureOf } from "./support.ts";

const schemaFile = join(import.meta.dirname, "..", "..", "docs", "manifest.schema.json");

async function fits(value: unknown): Promise<boolean> {
  const schema = JSON.parse(await readFile(schemaFile, "utf8")) as object;
  return new Ajv2020({ strict: true, allowUnionTypes: true }).validate(schema, value);
}

/** What manifests of version 0.1 do not have. */
const laterThan01 = [
  "legacyTransactionId",
  "store",
  "instrument",
  "measured",
  "measuredBy",
  "recording",
  "billable",
  "scan",
  "expected",
  "leftOut",
  "supplements",
];

describe("archive: the manifest and its schema", () => {
  /** Manifests of every kind, as the archive writes them. */
  async function manifests(): Promise<string[]> {
    const texts: string[] = [];
    await withFolder(async (root) => {
      const { runner, close } = await openArchive(root, undefined);
      const medium = (text: string) => ({
        content: pictureOf(text),
        contentType: "image/jpeg",
        contentId: null,
        description: "picture",
        filename: null,
      });
      for (const [id, more, media] of [
        ["1", { measurement: "{}\n", raw: "{}", legalForTrade: true, device: "ABCD2345" }, ["a", "b"]],
        ["2", { expect: ["video/mp4"], onIncomplete: "keep", deviceUtcTime: "2026-11-02T09:00:00Z" }, ["c"]],
      ] as const) {
        const intent = intentOf(id, {
          origin: null,
          ...more,
          expect: "expect" in more ? [...more.expect] : [],
        });
        const submission = await runner.submitMedia(intent, media.map(medium), null);
        texts.push(await readFile(join((await submission.end()).folder, "manifest.json"), "utf8"));
      }
      await close();
    });
    return texts;
  }

  const billable = {
    weight: Number.MAX_SAFE_INTEGER,
    unit: "kg",
    basis: "actual",
    explanation: "",
    ruleId: "own",
    ruleDate: null,
    legalForTrade: "unknown",
    computed: true,
  };

  it("is never written so that it could not be read again", async () => {
    const [text = ""] = await manifests();
    const content = readManifest(text) ?? assert.fail();
    const [item = assert.fail()] = content.items;
    const many = Array.from({ length: 5_000 }, (_, index) => ({ ...item, path: `${index}.jpg` }));
    assert.equal(readManifest(writeManifest({ ...content, items: many }))?.items.length, 5_000);
    const tooMany = { ...content, items: [...many, ...many, item] };
    const long = { ...item, description: "a".repeat(4_000) };
    for (const unreadable of [tooMany, { ...content, items: many.map(() => long) }]) {
      assert.throws(() => writeManifest(unreadable), {
        code: "ERR_FILE",
        message: /could not be read again/,
      });
    }
  });

  it("fit each other, whatever a manifest says", async () => {
    for (const text of await manifests()) {
      const billed = JSON.stringify({ ...(JSON.parse(text) as object), billable });
      for (const one of [text, billed]) {
        assert.ok(await fits(JSON.parse(one)), one);
        assert.ok(readManifest(one) !== undefined, one);
      }
    }
  });

  it("refuse the same things", async () => {
    const [text = ""] = await manifests();
    const good = JSON.parse(text) as Record<string, unknown>;
    const [item] = good["items"] as Record<string, unknown>[];
    const wrong: Record<string, unknown>[] = [
      ...Object.keys(good)
        .filter((name) => !laterThan01.includes(name))
        .map((name) => {
          const { [name]: _gone, ...rest } = good;
          return rest;
        }),
      { ...good, billable: { ...billable, weight: 1e17 } },
      { ...good, billable: { ...billable, weight: -1 } },
      { ...good, schemaVersion: 2 },
      { ...good, source: "disk" },
      { ...good, complete: "yes" },
      { ...good, legalForTrade: 0 },
      { ...good, supplements: { path: "x", sha256: "X" } },
      { ...good, items: [{ ...item, path: "../x" }] },
      { ...good, items: [{ ...item, path: ".." }] },
      { ...good, items: [{ ...item, path: "" }] },
      { ...good, items: [{ ...item, bytes: -1 }] },
      { ...good, items: [{ ...item, bytes: 1.5 }] },
      { ...good, items: [{ ...item, sha256: "0".repeat(63) }] },
    ];
    for (const one of wrong) {
      assert.ok(!(await fits(one)), JSON.stringify(one));
      assert.equal(readManifest(JSON.stringify(one)), undefined, JSON.stringify(one));
    }
    for (const text of ["", "null", "[]", "{", '"manifest"']) {
      assert.equal(readManifest(text), undefined);
    }
  });
});

describe("archive: a file that is read as a whole", () => {
  const disk = plainDisk;

  it("has at most as many bytes as its reader allows, whatever its length is said to be", () =>
    withFolder(async (root) => {
      const path = join(root, "one");
      await writeFile(path, "x".repeat(1_000));
      assert.equal(String(await readPlain(path, disk, 1_000)), "x".repeat(1_000));
      assert.equal(await readPlain(path, disk, 999), "too-large");
      assert.equal(await readPlain(join(root, "none"), disk, 999), "none");
      assert.equal(await readPlain(root, disk, 999), "none");
      const file = await disk.open(path);
      try {
        const saysLess = { read: file.read.bind(file), stat: async () => ({ size: 10, isFile: () => true }) };
        assert.equal(String(await readWhole(saysLess, 1_000)), "x".repeat(1_000));
        assert.equal(await readWhole(saysLess, 999), undefined);
        const saysMore = { ...saysLess, stat: async () => ({ size: 4e9, isFile: () => true }) };
        assert.equal(await readWhole(saysMore, 1_000), undefined);
        assert.equal(String(await readWhole(saysMore, 5e9)), "x".repeat(1_000));
      } finally {
        await file.close();
      }
    }));
});
