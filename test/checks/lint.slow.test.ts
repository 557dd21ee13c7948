import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const root = join(import.meta.dirname, "..", "..");

describe("the lint rules", () => {
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "lint-"));
    await copyFile(join(root, ".oxlintrc.json"), join(folder, ".oxlintrc.json"));
  });

  after(() => rm(folder, { recursive: true, force: true }));

  async function complaints(path: string, text: string): Promise<string> {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
    const oxlint = join(root, "node_modules", "oxlint", "bin", "oxlint");
    const { stdout } = spawnSync(process.execPath, [oxlint, path], { cwd: folder, encoding: "utf8" });
    await rm(file);
    return stdout;
  }

  const browser = "export const title = document.title;\n";
  const node = "export const bytes = Buffer.from([1]);\n";
  const cases = [
    ["src/http/call.ts", browser, node],
    ["nodes/measure/measure.ts", browser, node],
    ["src/editor/form.ts", node, browser],
    ["nodes/measure/measure.editor.ts", node, browser],
  ] as const;
  for (const [path, wrong, right] of cases) {
    it(`keep the globals of the other side out of ${path}`, async () => {
      assert.match(await complaints(path, wrong), /no-restricted-globals/);
      assert.doesNotMatch(await complaints(path, right), /no-restricted-globals/);
    });
  }

  it("want constants in camelCase, and braces around every branch", async () => {
    assert.match(await complaints("src/http/call.ts", "export const RETRY_MS = 1;\n"), /id-match/);
    assert.doesNotMatch(await complaints("src/http/call.ts", "export const retryMs = 1;\n"), /id-match/);
    const branch = "export function of(x: boolean): number {\n  if (x) return 1;\n  return 2;\n}\n";
    assert.match(await complaints("src/http/call.ts", branch), /curly/);
  });

  it("see that two files import each other, also where it is types alone", async () => {
    const one = 'import type { Two } from "./two.ts";\nexport interface One { readonly two: Two }\n';
    const two = 'import type { One } from "./one.ts";\nexport interface Two { readonly one: One }\n';
    await mkdir(join(folder, "src/http"), { recursive: true });
    await writeFile(join(folder, "src/http/one.ts"), one);
    assert.match(await complaints("src/http/two.ts", two), /no-cycle/);
    assert.doesNotMatch(await complaints("src/http/two.ts", "export type Two = string;\n"), /no-cycle/);
  });
});
