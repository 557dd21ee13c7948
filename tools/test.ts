/**
 * Everything that has to hold:  npm test
 *
 * Each step is an npm script, which can be run alone. This runs them on the Node.js that each is meant for, several at a
 * time, prints what they print, and adds up their tests; a script that counts nothing is one test. The last line is
 * `N passed, N failed`.
 */
import { rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { bundledNode, runningNode, type NodeBinary } from "./test/node-binaries.ts";
import { conclude, StepRunner, sum, type Step } from "./test/steps.ts";

const root = dirname(import.meta.dirname);
const npm = process.env["npm_execpath"];
if (npm === undefined) {
  throw new Error("Run this as npm test: it starts npm scripts.");
}

const running = runningNode();
const newest = running.major >= 24 ? running : (bundledNode(root, 24) ?? running);
// There is none on a platform for which npm ci installs none: then everything runs on the one that is there.
const oldest = running.major >= 24 ? bundledNode(root, 22) : running;
const reporter = `--reporter=${join(root, "tools", "test", "reporter.ts")}`;

// Hundreds of processes and threads begin with the same sources: where Node.js can, it strips their types and compiles them once.
const compileCache = await mkdtemp(join(tmpdir(), "compile-cache-"));
process.once("exit", () => rmSync(compileCache, { recursive: true, force: true }));

// Only for what looks at the sources from close by: counting takes time, and the other tests pass nothing that these do not.
const coverage = { NODE_V8_COVERAGE: join(root, "coverage", "raw") };
const onOldest = (name: string, ...args: string[]): Step[] =>
  oldest === undefined || oldest.path === newest.path ? [] : [script(name, oldest, {}, reporter, ...args)];
// What ends soon, then the longest first, so that none is left alone at the end.
const steps = [
  ...["lint", "check:format", "check:unused", "check:package"].map((name) => script(name, newest)),
  script("test:browser", newest, {}, reporter),
  script("test:nodes", newest, coverage, reporter),
  script("test:sources", newest, coverage, reporter),
  ...onOldest("test:nodes"),
  script("test:load", newest, {}, reporter),
  // Pages, tools and memory do not differ between versions of Node.js, nor does what is packed.
  ...onOldest("test:sources", "--ignore", "test/{bench,checks,docs}/**"),
  script("test:installed", newest, {}, reporter),
  ...onOldest("test:installed", "--ignore", "test/package/clean-clone.test.ts"),
  ...onOldest("test:faults"),
  script("test:faults", newest, {}, reporter),
  ...onOldest("test:load", "--ignore", "test/leaks/**"),
  script("test:mutations", newest, {}, reporter),
];

await rm(join(root, "coverage"), { recursive: true, force: true });
const runner = new StepRunner(root);
const outcomes = [await runner.runAll([script("build", newest)], 1)];
if (outcomes[0]?.failed === 0) {
  // Much of a suite is waiting: four keep two cores busy.
  outcomes.push(await runner.runAll(steps, 4));
  outcomes.push(await runner.runAll([script("check:coverage", newest)], 1));
}
conclude(sum(outcomes));

/** An npm script on a Node.js of its own: tools/with-node.mjs takes the one that npm runs on. */
function script(name: string, node: NodeBinary, env: Step["env"] = {}, ...args: string[]): Step {
  return {
    name: `${name}, Node.js ${node.version}`,
    command: [node.path, npm ?? "", "run", "--silent", name, "--", ...args],
    env: { NODE_COMPILE_CACHE: compileCache, ...env },
    // Far more than a slow machine needs.
    timeoutMs: 900_000,
  };
}
