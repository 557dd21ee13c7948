/**
 * Everything that has to hold:  npm test
 *
 * Each step is an npm script, which can be run alone. This runs them on the Node.js that each is meant for, several at a
 * time, prints what they print, and adds up their tests; a script that counts nothing is one test. The last line is
 * `N passed, N failed`.
 *
 * Every suite runs on Node.js 24 with Node-RED 5. On the oldest Node.js, with Node-RED 4.1, runs what could fail there alone:
 * what starts Node-RED or runs inside of it, what is installed of the package, and what uses Node.js directly: SQLite, the file
 * system, sockets and processes. Tests that compute, and those that run the same code in many orders or with many faults, have the
 * same result on both: on the oldest they run in `npm run test:long`.
 *
 *   npm test -- --coverage    also counts which lines the tests run, which takes longer, and fails below the limits in .c8rc.json
 */
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { TestScripts } from "./test/scripts.ts";
import { conclude, StepRunner, sum } from "./test/steps.ts";

const root = dirname(import.meta.dirname);
const scripts = await TestScripts.in(root);

const isCounted = process.argv.includes("--coverage");
// Only for the scripts that test the sources directly: the other scripts run no code that these do not run.
const coverage = isCounted ? { NODE_V8_COVERAGE: join(root, "coverage", "raw") } : {};
// The short scripts, then the longest first, so that no long one runs alone at the end.
const steps = [
  ...["check:types", "lint", "check:format", "check:unused", "check:package"].map((name) =>
    scripts.check(name),
  ),
  scripts.suite("test:browser"),
  // This script waits for most of its time.
  scripts.suite("test:load"),
  // PostgreSQL is a process of its own, and its driver is JavaScript alone; whatever the disk, what we do then is the same.
  ...scripts.suiteOnOldest(
    "test:platform",
    "--ignore",
    "test/{attacks/webhook-memory.process,media/disk-faults,store/postgres-database}.test.ts",
  ),
  scripts.suite("test:sources", coverage),
  scripts.suite("test:installed"),
  // The test of memory takes long, and measures our own code: on the oldest Node.js it runs in test:long.
  ...scripts.suiteOnOldest("test:nodes", "--ignore", "test/nodes/memory.test.ts"),
  scripts.suite("test:pages"),
  scripts.suite("test:archive", coverage),
  scripts.suite("test:nodes", coverage),
  scripts.suite("test:stations"),
  // Of what is installed, the package itself and the examples with which a user begins; test:long runs the other ones.
  ...scripts.suiteOnOldest("test:unit", "test/package/package.test.ts", "test/examples/main-job.test.ts"),
  scripts.suite("test:faults"),
  scripts.suite("test:tools", coverage),
];

await rm(join(root, "coverage"), { recursive: true, force: true });
const runner = new StepRunner(root);
const outcomes = [await runner.runAll([scripts.check("build")], 1)];
if (outcomes[0]?.failed === 0) {
  // A suite waits for half of its time, so four suites keep two cores busy; with more, each test is slower, and none is earlier done.
  outcomes.push(await runner.runAll(steps, 4));
  if (isCounted) {
    outcomes.push(await runner.runAll([scripts.check("check:coverage")], 1));
  }
}
conclude(sum(outcomes));
