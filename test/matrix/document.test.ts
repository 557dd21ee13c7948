import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { renderFaults } from "./document.ts";

const repository = join(import.meta.dirname, "../..");

describe("docs/faults.md", () => {
  it("is as the tables are (npm run write:faults writes it)", async () => {
    const page = await readFile(join(repository, "docs/faults.md"), "utf8");
    assert.equal(page, renderFaults());
    assert.ok(Buffer.byteLength(page) < 40_000, `${page.length} characters`);
  });
});
