import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { on, once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const steps = JSON.stringify(pathToFileURL(join(import.meta.dirname, "../../tools/test/steps.ts")).href);

interface Ended {
  readonly exitCode: number | null;
  readonly lines: readonly string[];
}

/** Starts a program that runs these scripts as steps, two at a time, as `npm test` does, and the first before the others if they need it. */
function start(scripts: Readonly<Record<string, string>>, timeoutMs = 120_000, isFirstNeeded = false) {
  const program = `
    import { conclude, StepRunner } from ${steps};
    const steps = Object.entries(${JSON.stringify(scripts)}).map(([name, script]) => ({
      name, command: [process.execPath, "--eval", script], timeoutMs: ${timeoutMs},
    }));
    const runner = new StepRunner(".");
    const [first, ...others] = steps;
    conclude(await (${isFirstNeeded} ? runner.runAllAfter(first, others, 2) : runner.runAll(steps, 2)));
  `;
  const args = ["--input-type=module", "--eval", program];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const lines: string[] = [];
  const input = createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
  const ended = async (): Promise<Ended> => {
    await Promise.all([once(child, "close"), once(input, "close")]);
    return { exitCode: child.exitCode, lines };
  };
  return { child, input, ended };
}

describe("the steps of npm test", () => {
  it("are told apart by their names, and added up; one that counts nothing is one test", async () => {
    const { exitCode, lines } = await start({
      lint: `console.log("all is well")`,
      suite: `console.log("half way"); console.log("7 passed, 0 failed")`,
    }).ended();
    assert.equal(exitCode, 0);
    assert.ok(lines.includes("[lint] all is well") && lines.includes("[suite] half way"), lines.join("\n"));
    assert.match(lines.join("\n"), /^ok suite: 7 passed, 0 failed \(\d+\.\d s\)$/m);
    const times = lines.slice(-3, -1).map((line) => /^ +(\d+\.\d) s {2}(?:lint|suite)$/.exec(line)?.[1]);
    assert.ok(Number(times[0]) >= Number(times[1]), lines.join("\n"));
    assert.equal(lines.at(-1), "8 passed, 0 failed");
  });

  it("are told of at the very end: how long they took, each failure with its whole error, and their names", async () => {
    const suite = (name: string, why: string) => `
      console.log("a line before");
      console.log("FAIL ${name}: it");
      console.error("a warning in between");
      console.log("     Error: ${why}\\n     \\n       at a place");
      console.log("${name}: 1 passed");
      console.log("1 passed, 1 failed");
      process.exitCode = 1;`;
    const { lines } = await start({
      first: suite("a.test.ts", "no"),
      lint: `console.log("x.ts: not pretty"); process.exitCode = 1`,
    }).ended();
    const end = lines.slice(lines.lastIndexOf("") + 1);
    assert.match(end.splice(0, 2).join("\n"), /^ +[\d.]+ s {2}\w+\n +[\d.]+ s {2}\w+$/);
    assert.deepEqual(
      end.splice(0, 6).toSorted(),
      [
        "       at a place",
        "     ",
        "     Error: no",
        "     x.ts: not pretty",
        "FAIL [first] a.test.ts: it",
        "FAIL [lint] lint has ended with exit code 1.",
      ].toSorted(),
    );
    assert.deepEqual(end.splice(1, 2).toSorted(), [
      "  [first] a.test.ts: it",
      "  [lint] lint has ended with exit code 1.",
    ]);
    assert.deepEqual(end, ["Failed:", "1 passed, 2 failed"]);
  });

  const red: readonly (readonly [what: string, script: string, last: string, said: RegExp])[] = [
    [
      "a test that failed",
      `console.log("FAIL a.test.ts: it"); console.log("2 passed, 1 failed"); process.exitCode = 1`,
      "2 passed, 1 failed",
      /^FAIL \[step\] a\.test\.ts: it$/m,
    ],
    [
      "a check that failed",
      `process.exitCode = 3`,
      "0 passed, 1 failed",
      /^FAIL \[step\] step .* exit code 3\.$/m,
    ],
    [
      "an exit code that does not fit the count",
      `console.log("5 passed, 0 failed"); process.exitCode = 1`,
      "5 passed, 1 failed",
      /^FAIL \[step\] step .* exit code 1\.$/m,
    ],
    [
      "a failure that the exit code does not tell",
      `console.log("5 passed, 2 failed")`,
      "5 passed, 2 failed",
      /^not ok step: 5 passed, 2 failed/m,
    ],
    ["no test", `console.log("0 passed, 0 failed")`, "0 passed, 0 failed", /^ok step: 0 passed/m],
  ];
  for (const [what, script, last, said] of red) {
    it(`end with an exit code other than 0 after ${what}`, async () => {
      const { exitCode, lines } = await start({ step: script }).ended();
      assert.equal(exitCode, 1);
      assert.equal(lines.at(-1), last);
      assert.match(lines.join("\n"), said);
    });
  }

  it("begin with the one that they need, the build, and none of them runs if it fails", async () => {
    const scripts = { suite: `console.log("begun")`, lint: `console.log("begun")` };
    const good = await start({ build: `console.log("built")`, ...scripts }, 120_000, true).ended();
    assert.equal(good.lines[0], "[build] built");
    assert.equal(good.lines.at(-1), "3 passed, 0 failed");
    const bad = await start({ build: `process.exitCode = 1`, ...scripts }, 120_000, true).ended();
    assert.equal(bad.exitCode, 1);
    assert.deepEqual(
      bad.lines.filter((line) => line.includes("begun")),
      [],
    );
    assert.equal(bad.lines.at(-1), "0 passed, 1 failed");
  });

  const withGrandchild = `
    const { spawn } = require("node:child_process");
    const child = spawn(process.execPath, ["--eval", "setInterval(() => {}, 1000)"]);
    console.log("grandchild " + child.pid);
    setInterval(() => {}, 1000);`;

  it("are ended, with what they have started, when they take too long", async () => {
    const { exitCode, lines } = await start({ step: withGrandchild }, 1_500).ended();
    assert.equal(exitCode, 1);
    assert.equal(lines.at(-1), "0 passed, 1 failed");
    assert.match(lines.join("\n"), /FAIL step did not end within 1\.5 s\./);
    assert.ok(await isGone(pidIn(lines.find((line) => line.includes("grandchild")))));
  });

  it("are ended, with what they have started, by a signal", async () => {
    const { child, input, ended } = start({
      step: withGrandchild,
      other: withGrandchild,
      next: `console.log("begun")`,
    });
    const running: number[] = [];
    // Both lines may come at once.
    for await (const [line] of on(input, "line")) {
      if (running.push(pidIn(String(line))) === 2) {
        break;
      }
    }
    child.kill("SIGTERM");
    const { exitCode, lines } = await ended();
    assert.equal(exitCode, 130);
    assert.deepEqual(
      lines.filter((line) => line.includes("begun")),
      [],
    );
    assert.deepEqual(await Promise.all(running.map(isGone)), [true, true]);
  });

  it("are ended by a signal with the steps that they run themselves, as test:repeat does with npm test", async () => {
    const inner = `import(${steps}).then(({ StepRunner }) => new StepRunner(".").runAll([
      { name: "inner", command: [process.execPath, "--eval", ${JSON.stringify(withGrandchild)}], timeoutMs: 120_000 },
    ], 1))`;
    const { child, input, ended } = start({ step: inner });
    const [line] = (await once(input, "line")) as [string];
    child.kill("SIGTERM");
    assert.equal((await ended()).exitCode, 130);
    assert.ok(await isGone(pidIn(line)));
  });

  it("name a failure once that a step prints twice, as npm test does in a round of test:repeat", async () => {
    const failure = `console.log("FAIL a test: it\\n     Error: why");`;
    const inner = `${failure} console.log("between"); ${failure} console.log("0 passed, 1 failed"); process.exitCode = 1`;
    const { lines } = await start({ step: inner }).ended();
    const end = lines.slice(lines.findIndex((line) => line.startsWith("not ok step")));
    assert.equal(end.filter((line) => line === "FAIL [step] a test: it").length, 2, lines.join("\n"));
    assert.deepEqual(lines.slice(-3), ["Failed:", "  [step] a test: it", "0 passed, 1 failed"]);
  });

  it("are ended also if they do not heed a signal", async () => {
    const deaf = `process.on("SIGTERM", () => {}); ${withGrandchild}`;
    const { child, input, ended } = start({ step: deaf });
    const [line] = (await once(input, "line")) as [string];
    child.kill("SIGTERM");
    assert.equal((await ended()).exitCode, 130);
    assert.ok(await isGone(pidIn(line)));
  });
});

function pidIn(line = ""): number {
  return Number(/grandchild (\d+)/.exec(line)?.[1]);
}

/** True as soon as there is no such process, or one that has ended and has not been waited for. */
async function isGone(pid: number): Promise<boolean> {
  for (let tries = 0; tries < 1_200; tries++) {
    try {
      process.kill(pid, 0);
    } catch {
      return true;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}
