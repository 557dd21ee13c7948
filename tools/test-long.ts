/**
 * What takes too long for every change:  npm run test:long
 *
 * The build, every program in test/long/, one after the other, then the broken promises, then every suite on the Node.js on
 * which `npm test` runs only a part of them.
 * The last line is `N passed, N failed`.
 *
 *   npm run test:long -- sweep leaks    only those whose names begin so
 *   npm run test:long -- test:          only the broken promises and the suites
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
  ...[
    "test:archive",
    "test:browser",
    "test:faults",
    "test:installed",
    "test:load",
    "test:nodes",
    "test:pages",
    "test:sources",
    "test:stations",
  ].flatMap((name) => scripts.suiteOnOther(name)),
  // Pages, checks and the bench are not part of what is installed.
  ...scripts.suiteOnOther("test:tools", "--ignore", "test/{bench,checks,docs}/**"),
];
const steps = [...programs, ...suites].filter(
  ({ name }) => wanted.length === 0 || wanted.some((start) => name.startsWith(start)),
);
conclude(await new StepRunner(root).runAllAfter(scripts.check("build"), steps, 1));
