import assert from "node:assert/strict";
import { packageFolder } from "../../src/vault/packages/layout.ts";

describe("the folder of a package", () => {
  const folderOf = (reference: string): string =>
    packageFolder("{reference}", { date: "2026-11-27", reference, transactionId: "1", device: null }).join(
      "/",
    );

  it("shows by its number what would turn the direction of its name, or nobody would see", () => {
    assert.equal(folderOf("ORDER-\u202e4711"), "ORDER-⟨U+202E⟩4711");
    assert.equal(folderOf("ORDER\u200b-4711"), "ORDER⟨U+200B⟩-4711");
    for (const code of ["00AD", "2060", "3164", "200D", "FE0F", "E0041"]) {
      const unseen = String.fromCodePoint(Number.parseInt(code, 16));
      assert.equal(folderOf(`ORDER${unseen}-4711`), `ORDER⟨U+${code}⟩-4711`);
    }
  });

  it("leaves as they are the words and emoji that need such characters", () => {
    for (const name of ["👩\u200d👧 7", "1\ufe0f\u20e3", "❤\ufe0f", "می\u200cخواهم", "क्\u200dष"]) {
      assert.equal(folderOf(name), name);
    }
  });

  it("has one name for a reference, without what disks refuse", () => {
    assert.equal(folderOf("a/b\\c:d\n"), "a_b_c_d_");
  });
});
