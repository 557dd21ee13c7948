import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { manifestSchema } from "../../src/vault/packages/manifest.ts";
import { readPage } from "./markdown.ts";

describe("the fields of a manifest in docs/archive.md", () => {
  it("are those that it has", () => {
    const page = readPage(readFileSync(join(import.meta.dirname, "../../docs/archive.md"), "utf8"));
    const table = page.tables.find(({ header }) => header[0] === "field of the manifest");
    const named = table?.rows.flatMap(([names = ""]) => [...names.matchAll(/\w+/g)].map(([name]) => name));
    assert.deepEqual(named?.toSorted(), Object.keys(manifestSchema.entries).toSorted());
  });
});
