import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runMocha } from "../../tools/test/mocha.ts";
import { createRunner } from "../../tools/test/run.ts";

const root = join(import.meta.dirname, "..", "..");
const { node: version } = process.versions;

describe("tools/test: a suite", function () {
  this.timeout(60_000);
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "suite-"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function outcomeOf(text: string, timeoutMs = 30_000) {
    const file = join(folder, "one.test.ts");
    await writeFile(file, text);
    const node = { path: process.execPath, version, major: Number.parseInt(version, 10) };
    const suite = { node, files: [file], ignore: [], coverage: false, timeoutMs };
    const { details, ...counts } = await runMocha(root, suite, createRunner().run);
    return { counts, told: details.join("\n") };
  }

  it("is counted by its tests", async () => {
    const { counts, told } = await outcomeOf(`
      it("passes", () => {});
      it.skip("waits", () => {});
      it("breaks", () => { throw new Error("for a reason"); });`);
    assert.deepEqual(counts, { passed: 1, failed: 1, skipped: 1 });
    assert.match(told, /breaks\nError: for a reason/);
  });

  const failures: readonly (readonly [what: string, text: string, told: RegExp])[] = [
    ["holds .only", `it.only("a", () => {}); it("b", () => {});`, /\.only/],
    ["holds no test", `describe("nothing", () => {});`, /exit code/],
    ["cannot be loaded", `throw new Error("at the top");`, /at the top/],
  ];
  for (const [what, text, expected] of failures) {
    it(`fails when it ${what}`, async () => {
      const { counts, told } = await outcomeOf(text);
      assert.deepEqual(counts, { passed: 0, failed: 1, skipped: 0 });
      assert.match(told, expected);
    });
  }

  it("fails when it leaves something open", async () => {
    const { counts, told } = await outcomeOf(`it("a", () => { setInterval(() => {}, 1000); });`, 4_000);
    assert.deepEqual(counts, { passed: 1, failed: 1, skipped: 0 });
    assert.match(told, /something is left open/);
  });
});
