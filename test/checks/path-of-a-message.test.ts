import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");
const mostFiles = 12;
const mostLines = 1_500;
/** Named beside the path: what reads take, which are not commands. */
const beside = ["src/http/read.ts", "src/http/download.ts"];

describe("the path of one message", () => {
  it(`is told by at most ${mostFiles} files with ${mostLines} lines, which ARCHITECTURE.md names`, async () => {
    const page = await readFile(join(root, "ARCHITECTURE.md"), "utf8");
    const [, section = ""] = /^## The path of one message\n(.*?)^Media take/ms.exec(page) ?? [];
    const named = new Set(
      [...section.matchAll(/`((?:src|nodes)\/[^`]+\.ts)`/g)].map(([, path = ""]) => path),
    );
    const files = [...named].filter((path) => !beside.includes(path));
    const lines = await Promise.all(
      files.map(async (path) => (await readFile(join(root, path), "utf8")).split("\n").length - 1),
    );
    const sum = lines.reduce((total, count) => total + count, 0);
    assert.ok(files.length > 3 && files.length <= mostFiles, `${files.length} files: ${files.join(", ")}`);
    assert.ok(sum <= mostLines, `${sum} lines`);
  });
});
