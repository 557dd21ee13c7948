import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { definitions, libraryShapes, sent, shapes, taken } from "../../src/model/message-schemas.ts";
import { jsonSchemas } from "../../tools/write-docs/schemas.ts";

const dist = join(import.meta.dirname, "../../dist/src");

/** The declarations that a program sees which imports the package, by their paths. */
async function declarations(file: string, seen = new Map<string, string>()): Promise<Map<string, string>> {
  assert.ok(existsSync(file), `${file} is not there: build first`);
  const text = await readFile(file, "utf8");
  seen.set(file, text);
  for (const [, specifier = ""] of text.matchAll(/from "(\.[^"]+)\.[jt]s"/g)) {
    const next = join(dirname(file), `${specifier}.d.ts`);
    if (!seen.has(next)) {
      await declarations(next, seen);
    }
  }
  return seen;
}

describe("the types of messages, as the package ships them", () => {
  it("need no schema library to compile", async () => {
    const all = await declarations(join(dist, "index.d.ts"));
    assert.ok(all.size > 10);
    for (const [file, text] of all) {
      assert.doesNotMatch(text, /valibot/, file);
    }
  });

  it("are exported by name, and say of each field what its schema says", async () => {
    const index = await readFile(join(dist, "index.d.ts"), "utf8");
    const schemas = jsonSchemas({ ...definitions, ...libraryShapes });
    const files = {
      "model/shapes.d.ts": { ...shapes, ...libraryShapes },
      "library/messages.d.ts": { ...sent, ...taken },
    };
    for (const [file, named] of Object.entries(files)) {
      const text = (await readFile(join(dist, file), "utf8")).replace(/\s+(?:\* )?/g, " ");
      for (const name of Object.keys(named) as (keyof typeof schemas)[]) {
        assert.match(index, new RegExp(`\\b${name}\\b`));
        const [, body = ""] = text.split(`export interface ${name} {`);
        for (const [field, schema] of Object.entries(schemas[name].properties ?? {})) {
          const { description } = typeof schema === "object" ? schema : {};
          const declared = description === undefined ? ` ${field}` : `${description} */ ${field}`;
          assert.ok(body.includes(declared), `${name}.${field}: ${description}`);
        }
      }
    }
  });
});
