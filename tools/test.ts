/**
 * Everything that has to hold, counted:  npm test
 *
 * Gates first (build and types, lint, format, dead code, package, floors, scorecard), then the tests: those of the
 * sources on the oldest Node that is supported and, with coverage, on Node 24; those in a browser; the installed package
 * and the examples in a real Node-RED 4.1 and 5.0; and each promise broken on purpose, to see a test
 * notice it. The last line is `N passed, N failed`.
 *
 *   npm run test:unit -- 'test/http/**'    only these, on the running Node, with mocha's own report
 */
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { buildGates, coverageGate, staticGates } from "./test/gates.ts";
import { runMocha, type MochaSuite } from "./test/mocha.ts";
import { mutationStep, readMutations } from "./test/mutations.ts";
import { bundledNode, runningNode, type NodeBinary } from "./test/node-binaries.ts";
import { runSteps, skippedOnce, sum, type Step } from "./test/outcome.ts";
import { runUntilSignal } from "./test/run.ts";

const root = dirname(import.meta.dirname);
const all = ["test/**/*.test.ts"];
/** What runs the package as it is installed. */
const installed = ["test/package/**/*.test.ts", "test/examples/**/*.test.ts"];
/** What drives a browser. */
const editor = [
  "test/editor/**/*.test.ts",
  "test/support/**/*.test.ts",
  "test/security/editor.test.ts",
  "test/simulator/page.test.ts",
];
/** What one Node is enough for: about pages, or with processes that choose their Node themselves. */
const once = [...editor, "test/docs/**", "test/security/token.process.test.ts"];
/** Takes long; one Node is enough. */
const leaks = "test/leaks/**";
const demo = "test/demo/**/*.test.ts";
/** Far more than a slow machine needs. */
const longestSuiteMs = 480_000;

const [option, ...patterns] = process.argv.slice(2);
process.exitCode = option === "--unit" ? runSome(patterns) : await runAll();

function runSome(files: readonly string[]): number {
  const node = runningNode();
  const mocha = join(root, "node_modules", "mocha", "bin", "mocha.js");
  const given =
    files.length === 0 ? [...all, ...[...installed, demo].flatMap((one) => ["--ignore", one])] : files;
  const args = [mocha, "--fail-zero", "--timeout", "20000", ...given];
  return spawnSync(node.path, args, { cwd: root, stdio: "inherit" }).status ?? 1;
}

async function runAll(): Promise<number> {
  const run = runUntilSignal();

  const running = runningNode();
  const newest = running.major >= 24 ? running : bundledNode(root, 24);
  const oldest = bundledNode(root, 22) ?? (running.major < 24 ? running : undefined);
  const older = oldest === undefined ? [] : [oldest];
  const noOldest: Step[] =
    oldest === undefined ? [skip("tests on Node 22", "there is no Node 22 for this platform")] : [];

  const suite = (name: string, node: NodeBinary, options: Partial<MochaSuite>): Step => {
    const title = `${name} on Node ${node.version}`;
    const usual = { files: all, ignore: [...installed, demo], coverage: false, timeoutMs: longestSuiteMs };
    return { name: title, run: () => runMocha(root, { node, ...usual, ...options }, run) };
  };
  const steps = older.map((node) => suite("sources", node, { ignore: [...installed, demo, ...once] }));
  if (newest === undefined) {
    steps.push(skip("tests on Node 24, coverage", "there is no Node 24 for this platform"));
  } else {
    const spared = oldest === undefined ? [] : [leaks];
    steps.push(
      suite("sources, coverage", newest, {
        coverage: true,
        ignore: [...installed, demo, ...editor, ...spared],
      }),
      suite("browser", newest, { files: editor, ignore: [] }),
      suite("package, examples and demo", newest, { files: [...installed, demo], ignore: [] }),
    );
  }
  for (const node of older) {
    steps.push(suite("package and examples", node, { files: installed, ignore: [] }));
  }
  const mutations = await readMutations(root);
  steps.push(...mutations.map((mutation) => mutationStep(root, mutation, newest ?? running, run)));

  const outcomes = [
    await runSteps(buildGates(root, run), 1),
    await runSteps(staticGates(root, run), 2),
    // Much of a suite is waiting: three keep two cores busy.
    await runSteps([...noOldest, ...steps], 3),
    await runSteps(newest === undefined ? [] : [coverageGate(root)], 1),
  ];
  const { passed, failed } = sum(outcomes);
  console.log(`\n${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

function skip(name: string, reason: string): Step {
  return { name, run: async () => skippedOnce(reason) };
}
