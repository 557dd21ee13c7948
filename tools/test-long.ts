/**
 * What takes too long for every change:  npm run test:long
 *
 * Every program in test/long/, one after the other, then the check of the tests themselves (test/mutations). A program
 * prints its own summary and ends with an exit code; this adds them up. The last line is `N passed, N failed`.
 *
 *   npm run test:long -- sweep leaks    only those whose names begin so
 */
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { mutationStep, readMutations } from "./test/mutations.ts";
import { bundledNode, runningNode, typeScriptOptions } from "./test/node-binaries.ts";
import { failedOnce, passedOnce, runSteps, sum, type Step } from "./test/outcome.ts";
import { createRunner } from "./test/run.ts";

const root = dirname(import.meta.dirname);
const longestProgramMs = 3_600_000;
const wanted = process.argv.slice(2);
const isWanted = (name: string): boolean =>
  wanted.length === 0 || wanted.some((start) => name.startsWith(start));
const { run, endAll } = createRunner();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => {
    endAll();
    process.exit(130);
  });
}

const node = bundledNode(root, 24) ?? runningNode();
const folder = join(root, "test", "long");
const names = (await readdir(folder))
  .filter((name) => name.endsWith(".ts"))
  .map((name) => basename(name, ".ts"));
const programs = names.filter(isWanted).map((name): Step => ({
  name,
  async run() {
    const args = [...typeScriptOptions(node), join(folder, `${name}.ts`)];
    const { exitCode, output } = await run(node.path, args, { cwd: root, timeoutMs: longestProgramMs });
    if (exitCode !== 0) return failedOnce(output);
    console.log(output.trim().replace(/^/gm, "     "));
    return passedOnce;
  },
}));
const mutations = isWanted("mutations") ? await readMutations(root) : [];
const outcomes = [
  await runSteps(programs, 1),
  await runSteps(
    mutations.map((mutation) => mutationStep(root, mutation, node, run)),
    2,
  ),
];
const { passed, failed } = sum(outcomes);
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
