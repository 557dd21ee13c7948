/**
 * Runs the tests again and again, to find those that fail now and then:  npm run test:repeat
 *
 * First alone, then beside busy loops, which take the processor from the tests as a busy machine does. Says of each round
 * how many tests passed and which failed, with the whole error, and keeps all that the rounds print in a folder; ends with
 * an exit code other than 0 when any failed.
 *
 *   npm run test:repeat -- --alone 20 --beside 20 --busy 6    rounds alone (20) and beside (20) that many busy loops (6)
 *   npm run test:repeat -- test/http/*.test.ts                only these files, instead of all that npm test runs
 */
import { spawn } from "node:child_process";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { conclude, failuresIn, linesOf, StepRunner, sum, type Outcome, type Step } from "./test/steps.ts";

const root = dirname(import.meta.dirname);
const { values, positionals } = parseArgs({
  options: {
    alone: { type: "string", default: "20" },
    beside: { type: "string", default: "20" },
    busy: { type: "string", default: "6" },
  },
  allowPositionals: true,
});
const alone = Number(values.alone);
const beside = Number(values.beside);
const busy = Number(values.busy);
const step: Step = {
  name: "the round",
  command:
    positionals.length === 0
      ? [process.execPath, process.env["npm_execpath"] ?? "", "test"]
      : [
          process.execPath,
          join(root, "node_modules", "mocha", "bin", "mocha.js"),
          `--reporter=${join(root, "tools", "test", "reporter.ts")}`,
          ...positionals,
        ],
  timeoutMs: 3_600_000,
};

const logs = await mkdtemp(join(tmpdir(), "test-repeat-"));
console.log(`What the rounds print is kept in ${logs}`);
const runner = new StepRunner(root);
const outcomes: Outcome[] = [];
for (let round = 1; round <= alone; round++) {
  outcomes.push(await runRound(`round ${round} of ${alone}, alone`));
}
if (beside > 0) {
  const loops = Array.from({ length: busy }, startBusyLoop);
  for (let round = 1; round <= beside; round++) {
    outcomes.push(await runRound(`round ${round} of ${beside}, beside ${busy} busy loops`));
  }
  for (const loop of loops) {
    loop.kill("SIGKILL");
  }
}
conclude(sum(outcomes));

async function runRound(name: string): Promise<Outcome> {
  const startedAt = performance.now();
  const lines: string[] = [];
  const outcome = await runner.run(step, (line) => lines.push(line));
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  await writeFile(join(logs, `${name.replaceAll(/\W+/g, "-")}.log`), lines.join("\n"));
  console.log(`${name}: ${outcome.passed} passed, ${outcome.failed} failed (${seconds} s)`);
  linesOf(outcome.failures).forEach((line) => console.log(line));
  return { ...outcome, failures: failuresIn(name, outcome.failures) };
}

/**
 * Ends when it is killed, or by itself when this process is gone. In a session of its own: Linux gives each session the same
 * share of the processor, so that six loops in the session of this process would take no more than one.
 */
function startBusyLoop() {
  const loop = "const parent = process.ppid; while (process.ppid === parent);";
  return spawn(process.execPath, ["--eval", loop], { detached: true, stdio: "ignore" });
}
