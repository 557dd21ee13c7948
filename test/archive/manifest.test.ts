import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { readManifest } from "../../src/archive/packages/manifest.ts";
import { withFolder } from "../media/support.ts";
import { intentOf, openArchive, pictureOf } from "./support.ts";

type Schema = Readonly<Record<string, unknown>>;

const schemaFile = join(import.meta.dirname, "..", "..", "docs", "manifest.schema.json");

/** As much of JSON Schema as the manifest's schema uses; an unknown word in it is an error. */
function check(value: unknown, schema: Schema, root: Schema, path = "$"): string[] {
  const problems: string[] = [];
  const fail = (what: string): void => void problems.push(`${path} ${what}`);
  for (const [word, rule] of Object.entries(schema)) {
    switch (word) {
      case "$schema":
      case "$id":
      case "$defs":
      case "title":
      case "description":
      case "format":
        break;
      case "$ref": {
        const name = String(rule).replace("#/$defs/", "");
        const target = (root["$defs"] as Readonly<Record<string, Schema>>)[name];
        assert.ok(target !== undefined, String(rule));
        problems.push(...check(value, target, root, path));
        break;
      }
      case "const":
        if (value !== rule) {
          fail(`is not ${String(rule)}`);
        }
        break;
      case "enum":
        if (!(rule as unknown[]).includes(value)) {
          fail("is none of the choices");
        }
        break;
      case "type":
        if (![rule].flat().includes(typeOf(value, rule))) {
          fail(`is ${typeOf(value, rule)}`);
        }
        break;
      case "pattern":
        if (typeof value === "string" && !new RegExp(String(rule), "u").test(value)) {
          fail("does not fit");
        }
        break;
      case "minimum":
        if (typeof value === "number" && value < Number(rule)) {
          fail("is too small");
        }
        break;
      case "required":
        if (isRecord(value)) {
          for (const name of rule as string[]) {
            if (!(name in value)) {
              fail(`has no ${name}`);
            }
          }
        }
        break;
      case "properties":
        if (isRecord(value)) {
          for (const [name, inner] of Object.entries(rule as Record<string, Schema>)) {
            if (name in value) {
              problems.push(...check(value[name], inner, root, `${path}.${name}`));
            }
          }
        }
        break;
      case "additionalProperties":
        assert.equal(rule, false);
        if (isRecord(value)) {
          const known = Object.keys(schema["properties"] as object);
          for (const name of Object.keys(value)) {
            if (!known.includes(name)) {
              fail(`has ${name} beside`);
            }
          }
        }
        break;
      case "items":
        if (Array.isArray(value)) {
          for (const [index, one] of value.entries()) {
            problems.push(...check(one, rule as Schema, root, `${path}[${index}]`));
          }
        }
        break;
      default:
        assert.fail(`the schema has ${word}, which this test does not know`);
    }
  }
  return problems;
}

function typeOf(value: unknown, rule: unknown): string {
  if (value === null) {
    return "null";
  }
  if (Array.isArray(value)) {
    return "array";
  }
  return typeof value === "number" && rule === "integer" && Number.isInteger(value)
    ? "integer"
    : typeof value;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

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
          source: "message",
          ...more,
          expect: "expect" in more ? [...more.expect] : [],
        });
        const ticket = await runner.submitMedia(intent, media.map(medium), null);
        texts.push(await readFile(join((await ticket.end()).folder, "manifest.json"), "utf8"));
      }
      await close();
    });
    return texts;
  }

  it("fit each other, whatever a manifest says", async () => {
    const schema = JSON.parse(await readFile(schemaFile, "utf8")) as Schema;
    for (const text of await manifests()) {
      assert.deepEqual(check(JSON.parse(text), schema, schema), []);
      assert.ok(readManifest(text) !== undefined);
    }
  });

  it("refuse the same things", async () => {
    const schema = JSON.parse(await readFile(schemaFile, "utf8")) as Schema;
    const [text = ""] = await manifests();
    const good = JSON.parse(text) as Record<string, unknown>;
    const [item] = good["items"] as Record<string, unknown>[];
    const wrong: Record<string, unknown>[] = [
      ...Object.keys(good).map((name) => {
        const { [name]: _gone, ...rest } = good;
        return rest;
      }),
      { ...good, schemaVersion: 2 },
      { ...good, source: "disk" },
      { ...good, complete: "yes" },
      { ...good, legalForTrade: 0 },
      { ...good, previous: { path: "x", sha256: "X" } },
      { ...good, items: [{ ...item, path: "../x" }] },
      { ...good, items: [{ ...item, path: ".." }] },
      { ...good, items: [{ ...item, path: "" }] },
      { ...good, items: [{ ...item, bytes: -1 }] },
      { ...good, items: [{ ...item, bytes: 1.5 }] },
      { ...good, items: [{ ...item, sha256: "0".repeat(63) }] },
    ];
    for (const one of wrong) {
      assert.notDeepEqual(check(one, schema, schema), [], JSON.stringify(one));
      assert.equal(readManifest(JSON.stringify(one)), undefined, JSON.stringify(one));
    }
    for (const text of ["", "null", "[]", "{", '"manifest"']) {
      assert.equal(readManifest(text), undefined);
    }
  });
});
