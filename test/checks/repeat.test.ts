import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

const root = join(import.meta.dirname, "..", "..");

describe("npm run test:repeat", () => {
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "repeat-"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function repeat(...args: string[]) {
    const program = join(root, "tools", "test-repeat.ts");
    const child = spawn(process.execPath, [program, ...args], {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [stdout] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
    const [, logs = ""] = /^What the rounds print is kept in (.+)\n/.exec(stdout) ?? [];
    return { exitCode: child.exitCode, stdout, logs };
  }

  it("runs the files alone and beside busy loops, and counts each round", async () => {
    const file = join(folder, "steady.test.ts");
    await writeFile(file, `describe("a part", () => { it("holds", () => {}); });`);
    const { exitCode, stdout, logs } = await repeat("--alone", "1", "--beside", "2", "--busy", "2", file);
    const rounds = stdout.split("\n").map((line) => line.replace(/ \(\d+ s\)$/, ""));
    assert.equal((await readdir(logs)).length, 3);
    assert.match(await readFile(join(logs, "round-1-of-1-alone.log"), "utf8"), /steady\.test\.ts: 1 passed/);
    await rm(logs, { recursive: true });
    assert.deepEqual(rounds.slice(1, 4), [
      "round 1 of 1, alone: 1 passed, 0 failed",
      "round 1 of 2, beside 2 busy loops: 1 passed, 0 failed",
      "round 2 of 2, beside 2 busy loops: 1 passed, 0 failed",
    ]);
    assert.match(stdout, /\n3 passed, 0 failed\n$/);
    assert.equal(exitCode, 0);
  });

  it("has each busy loop in a session of its own, as Linux shares the processor among sessions", async function () {
    if (process.platform !== "linux") {
      // Others share it among processes.
      this.skip();
    }
    const file = join(folder, "sessions.test.ts");
    const found = join(folder, "sessions.json");
    await writeFile(
      file,
      `import { readdirSync, readFileSync, writeFileSync } from "node:fs";
      it("looks", () => {
        const processes = readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name)).flatMap((pid) => {
          try {
            const [, parent, , session] = readFileSync("/proc/" + pid + "/stat", "utf8").split(") ").pop().split(" ");
            return Number(parent) === process.ppid ? [Number(session)] : [];
          } catch {
            return [];
          }
        });
        writeFileSync(${JSON.stringify(found)}, JSON.stringify(processes));
      });`,
    );
    const { exitCode, stdout, logs } = await repeat("--alone", "0", "--beside", "1", "--busy", "3", file);
    assert.equal(exitCode, 0, stdout);
    await rm(logs, { recursive: true });
    const sessions: unknown = JSON.parse(await readFile(found, "utf8"));
    assert.ok(Array.isArray(sessions));
    // The test itself and the three loops.
    assert.deepEqual([sessions.length, new Set(sessions).size], [4, 4]);
  });

  it("names the test that failed in one of the rounds, and ends with an exit code other than 0", async () => {
    const file = join(folder, "wavering.test.ts");
    await writeFile(
      file,
      `import { existsSync, writeFileSync } from "node:fs";
      const mark = import.meta.filename + ".ran";
      it("wavers", () => {
        const isSecond = existsSync(mark);
        writeFileSync(mark, "");
        if (isSecond) throw new Error("this time");
      });`,
    );
    const { exitCode, stdout, logs } = await repeat("--alone", "2", "--beside", "0", file);
    assert.match(stdout, /round 1 of 2, alone: 1 passed, 0 failed/);
    assert.match(stdout, /round 2 of 2, alone: 0 passed, 1 failed/);
    assert.match(stdout, /^FAIL .*wavering\.test\.ts: wavers\n +Error: this time/m);
    assert.match(stdout, /^FAIL \[round 2 of 2, alone\] .*wavering\.test\.ts: wavers\n +Error: this time/m);
    assert.match(stdout, /\nFailed:\n {2}\[round 2 of 2, alone\] .*: wavers\n1 passed, 1 failed\n$/);
    await rm(logs, { recursive: true });
    assert.equal(exitCode, 1);
  });
});
