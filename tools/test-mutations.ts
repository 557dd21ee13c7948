/**
 * The tests' own test:  npm run test:mutations
 *
 * Breaks each promise of docs/promises.md on purpose, one after the other, in a copy of the sources, and expects the test that
 * holds it to go red. The last line is `N passed, N failed`.
 *
 *   npm run test:mutations -- p1 p7    only those whose names begin so
 */
import { dirname } from "node:path";
import { mutationStep, readMutations } from "./test/mutations.ts";
import { bundledNode, runningNode } from "./test/node-binaries.ts";
import { runSteps } from "./test/outcome.ts";
import { runUntilSignal } from "./test/run.ts";

const root = dirname(import.meta.dirname);
const wanted = process.argv.slice(2);
const run = runUntilSignal();

const node = bundledNode(root, 24) ?? runningNode();
const mutations = (await readMutations(root)).filter(
  ({ name }) => wanted.length === 0 || wanted.some((start) => name.startsWith(start)),
);
const steps = mutations.map((mutation) => mutationStep(root, mutation, node, run));
const { passed, failed } = await runSteps(steps, 2);
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
