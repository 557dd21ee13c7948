import assert from "node:assert/strict";
import { ZipNames } from "../../src/evidence/report/exported-package.ts";
import { sha256Of } from "../../src/model/sha256.ts";

/** The folders of packages at these paths in one export. */
function foldersOf(paths: readonly string[]): string[] {
  const names = new ZipNames();
  return paths.map((path, index) => {
    const name = names.ofPackage({ path, sha256: sha256Of(String(index)) })("manifest.json");
    return name.slice("packages/".length, -"/manifest.json".length);
  });
}

/** The folders that would become one with another where letters or their forms are not told apart. */
function merged(folders: readonly string[]): string[] {
  const spellings = new Map<string, Set<string>>();
  for (const folder of folders) {
    const parts = folder.split("/");
    for (let end = 1; end <= parts.length; end += 1) {
      const above = parts.slice(0, end).join("/");
      const key = above.normalize("NFC").toLowerCase();
      spellings.set(key, (spellings.get(key) ?? new Set()).add(above));
    }
  }
  return [...spellings].filter(([, { size }]) => size > 1).map(([key]) => key);
}

describe("archive: the folders of packages in an export", () => {
  const cases: Readonly<Record<string, readonly string[]>> = {
    "a parent in other letters": ["Order-1/a", "ORDER-1/b", "order-1/c"],
    "a parent below another one": ["dock/Order-1/a", "dock/ORDER-1/b"],
    "a parent that is a package in other letters": ["Order-1", "ORDER-1/b"],
    "a package that is a parent in other letters": ["ORDER-1/b", "Order-1"],
    "the same name in another Unicode form": ["B\u00FCcher/a", "Bu\u0308cher/b"],
    "the same package in another Unicode form": ["B\u00FCcher", "Bu\u0308cher"],
  };
  for (const [name, paths] of Object.entries(cases)) {
    it(`do not become one when they are extracted on Windows: ${name}`, () => {
      const folders = foldersOf(paths);
      assert.deepEqual(merged(folders), []);
      assert.equal(folders[0], paths[0]);
      assert.equal(new Set(folders).size, paths.length);
    });
  }

  it("stay as they are where parents have the same letters", () => {
    const paths = ["ORDER-1/a", "ORDER-1/b", "dock/order-1/a", "ORDER-2/a"];
    assert.deepEqual(foldersOf(paths), paths);
  });
});
