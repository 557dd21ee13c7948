/**
 * What takes too long for every change:  npm run test:long
 *
 * Every program in test/long/, one after the other, then the broken promises, then the suites that `npm test` runs on the newest Node.js
 * alone, on the oldest one.
 * The last line is `N passed, N failed`.
 *
 *   npm run test:long -- sweep leaks    only those whose names begin so
 *   npm run test:long -- test:          only the broken promises and the suites on the oldest Node.js
 */
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { TestScripts } from "./test/scripts.ts";
import { conclude, StepRunner } from "./test/steps.ts";

const root = dirname(import.meta.dirname);
const folder = join(root, "test", "long");
const wanted = process.argv.slice(2);
const names = (await readdir(folder)).filter((name) => name.endsWith(".ts"));
const programs = names.map((name) => ({
  name: name.replace(".ts", ""),
  command: [process.execPath, join(folder, name)] as const,
  timeoutMs: 3_600_000,
}));
const scripts = await TestScripts.in(root);
const suites = [
  scripts.suite("test:mutations"),
  ...scripts.suiteOnOldest("test:archive"),
  ...scripts.suiteOnOldest("test:faults"),
  ...scripts.suiteOnOldest("test:load"),
  ...scripts.suiteOnOldest("test:sources"),
  // Pages, checks and the bench are not part of what is installed.
  ...scripts.suiteOnOldest("test:tools", "--ignore", "test/{bench,checks,docs}/**"),
  ...scripts.suiteOnOldest("test:installed"),
  ...scripts.suiteOnOldest("test:stations"),
  ...scripts.suiteOnOldest("test:unit", "test/nodes/memory.test.ts", "test/evidence-page/page*.test.ts"),
];
const steps = [...programs, ...suites].filter(
  ({ name }) => wanted.length === 0 || wanted.some((start) => name.startsWith(start)),
);
conclude(await new StepRunner(root).runAll(steps, 1));
