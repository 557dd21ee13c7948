import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { renderFaults } from "./document.ts";
import { attacks } from "./tables/attacks.ts";
import { otherTests } from "./tables/other-tests.ts";

const repository = join(import.meta.dirname, "../..");

describe("docs/faults.md", () => {
  it("is as the tables are (npm run write:faults writes it)", async () => {
    const page = await readFile(join(repository, "docs/faults.md"), "utf8");
    assert.equal(page, renderFaults());
    assert.ok(Buffer.byteLength(page) < 40_000, `${page.length} characters`);
  });

  it("counts each file of attacks", async () => {
    const files = (await readdir(join(repository, "test/attacks"))).filter((name) =>
      name.endsWith(".test.ts"),
    );
    // It hangs the same calls without a Node-RED.
    const counted = ["hung-disk.test.ts", ...Object.values(attacks).map(({ file }) => basename(file))];
    assert.deepEqual(
      files.filter((name) => !counted.includes(name)),
      [],
    );
  });

  for (const [name, { file, title }] of Object.entries({ ...attacks, ...otherTests })) {
    it(`names where this is tried: ${name}`, async () => {
      const text = await readFile(join(repository, "test", file), "utf8");
      assert.ok(text.includes(title), `${file} has no “${title}”`);
    });
  }
});
