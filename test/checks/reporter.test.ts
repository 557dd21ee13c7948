import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

const root = join(import.meta.dirname, "..", "..");

describe("the reporter of npm test: a suite", () => {
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "suite-"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** Runs a file with these tests; resolves with what is printed and with the last line of it. */
  async function run(tests: string, ...reporterOptions: readonly string[]) {
    const file = join(folder, "one.test.ts");
    await writeFile(file, tests);
    const mocha = join(root, "node_modules", "mocha", "bin", "mocha.js");
    const options = [
      `--reporter=${join(root, "tools", "test", "reporter.ts")}`,
      ...reporterOptions.map((option) => `--reporter-option=${option}`),
    ];
    const child = spawn(process.execPath, [mocha, ...options, file], {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [out, error] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
    return { exitCode: child.exitCode, out: out.trim(), error, last: out.trim().split("\n").at(-1) };
  }

  it("is counted by its tests, says at once what fails and why, and has a line for its file", async () => {
    const { exitCode, out, last } = await run(`
      describe("a part", () => {
        it("passes", () => {});
        it.skip("waits", () => {});
        it("breaks", () => { throw new Error("for a reason", { cause: new Error("underneath") }); });
      });`);
    assert.equal(exitCode, 1);
    assert.equal(last, "1 passed, 1 failed");
    assert.match(
      out,
      /^skipped .*one\.test\.ts: a part waits\nFAIL .*one\.test\.ts: a part breaks\n +Error: for/,
    );
    assert.match(out, /underneath/);
    assert.match(out, /one\.test\.ts: 1 passed \(\d+\.\d s\)/);
  });

  it("fails with the hook that fails", async () => {
    const { exitCode, out, last } = await run(`
      describe("a part", () => {
        before(() => { throw new Error("no"); });
        it("never runs", () => {});
      });`);
    assert.equal(exitCode, 1);
    assert.equal(last, "0 passed, 1 failed");
    assert.match(out, /^FAIL .*one\.test\.ts: a part "before all" hook/);
  });

  const broken: readonly (readonly [what: string, tests: string, said: RegExp])[] = [
    ["has .only", `it.only("a", () => {}); it("b", () => {});`, /\.only/],
    ["has no test", `describe("nothing", () => {});`, /^0 passed, 0 failed/],
    ["cannot be loaded", `throw new Error("at the top");`, /at the top/],
  ];
  for (const [what, tests, said] of broken) {
    it(`fails when it ${what}`, async () => {
      const { exitCode, out, error } = await run(tests);
      assert.notEqual(exitCode, 0);
      assert.match(out + error, said);
    });
  }

  it("fails when it leaves something open, and says what", async () => {
    const leaving = `it("a", () => { setInterval(() => {}, 1000); });`;
    const { exitCode, out } = await run(leaving, "longestRestMs=100");
    assert.equal(exitCode, 1);
    assert.match(out, /^1 passed, 0 failed\nFAIL All tests have ended.* Something is left open: .*Timeout/m);
  });
});
