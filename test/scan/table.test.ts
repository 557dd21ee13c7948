import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { release, rows } from "../../src/scan/gs1/application-identifiers.ts";
import { withFolder } from "../media/support.ts";

const excerpt = join(import.meta.dirname, "vectors/gs1-syntax-dictionary-excerpt.txt");
const script = join(import.meta.dirname, "../../tools/write-application-identifiers.ts");

describe("the table of application identifiers", () => {
  it("is what the script makes of GS1's dictionary, and names its release, source and licence", async () => {
    await withFolder(async (folder) => {
      const target = join(folder, "table.ts");
      await promisify(execFile)(process.execPath, [script, excerpt, target]);
      const table = (await import(target)) as { readonly release: string; readonly rows: typeof rows };
      assert.equal(table.release, release);
      assert.equal(table.rows.length, 12);
      const ours = new Map(rows.map((row) => [row[0], row]));
      for (const row of table.rows) {
        assert.deepEqual(row, ours.get(row[0]));
      }
      const [comment = ""] = (await readFile(target, "utf8")).split("*/");
      assert.match(comment, /release 2026-01-27, https:\/\/github\.com\/gs1\/gs1-syntax-dictionary/);
      assert.match(comment, /Apache License 2\.0/);
    });
  });

  it("has all 224 rows of that release", () => {
    assert.equal(rows.length, 224);
  });
});
