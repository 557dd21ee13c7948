/**
 * What takes too long for every change:  npm run test:long
 *
 * Every program in test/long/, one after the other. Each prints its own summary and ends with an exit code; this adds them
 * up. The last line is `N passed, N failed`.
 *
 *   npm run test:long -- sweep leaks    only those whose names begin so
 */
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { bundledNode, runningNode } from "./test/node-binaries.ts";
import { failedOnce, passedOnce, runSteps, type Step } from "./test/outcome.ts";
import { runUntilSignal } from "./test/run.ts";

const root = dirname(import.meta.dirname);
const longestProgramMs = 3_600_000;
const wanted = process.argv.slice(2);
const run = runUntilSignal();

const node = bundledNode(root, 24) ?? runningNode();
const folder = join(root, "test", "long");
const names = (await readdir(folder))
  .filter((name) => name.endsWith(".ts"))
  .map((name) => basename(name, ".ts"));
const programs = names
  .filter((name) => wanted.length === 0 || wanted.some((start) => name.startsWith(start)))
  .map((name): Step => ({
    name,
    async run() {
      const { exitCode, output } = await run(node.path, [join(folder, `${name}.ts`)], {
        cwd: root,
        timeoutMs: longestProgramMs,
      });
      if (exitCode !== 0) {
        return failedOnce(output);
      }
      console.log(output.trim().replace(/^/gm, "     "));
      return passedOnce;
    },
  }));
const { passed, failed } = await runSteps(programs, 1);
console.log(`\n${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
