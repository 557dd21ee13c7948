/**
 * Everything that has to hold:  npm test
 *
 * Each step is an npm script, which can be run alone. This runs them on the Node.js that each is meant for, several at a
 * time, prints what they print, and adds up their tests; a script that counts nothing is one test. The last line is
 * `N passed, N failed`.
 *
 * Everything runs on the Node.js that runs this, with the Node-RED that belongs to it: 5.0 on Node.js 24, and 4.1 on Node.js 22. On the
 * other one runs `test:other`: what users install, and what uses Node.js and Node-RED most. CI runs `npm test` on both, and
 * `npm run test:long` runs every suite on the other one.
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
  scripts.suite("test:archive", coverage),
  scripts.suite("test:sources", coverage),
  scripts.suite("test:stations"),
  scripts.suite("test:installed"),
  scripts.suite("test:nodes", coverage),
  ...scripts.suiteOnOther("test:other"),
  scripts.suite("test:pages"),
  scripts.suite("test:faults"),
  scripts.suite("test:tools", coverage),
];

await rm(join(root, "coverage"), { recursive: true, force: true });
const runner = new StepRunner(root);
// A suite waits for half of its time, so four suites keep two cores busy; with more, each test is slower, and none is earlier done.
const outcomes = [await runner.runAllAfter(scripts.check("build"), steps, 4)];
if (isCounted) {
  outcomes.push(await runner.runAll([scripts.check("check:coverage")], 1));
}
conclude(sum(outcomes));
