/**
 * What takes too long for every change:  npm run test:long
 *
 * Every program in test/long/, one after the other. The last line is `N passed, N failed`.
 *
 *   npm run test:long -- sweep leaks    only those whose names begin so
 */
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { conclude, StepRunner } from "./test/steps.ts";

const root = dirname(import.meta.dirname);
const folder = join(root, "test", "long");
const wanted = process.argv.slice(2);
const names = (await readdir(folder)).filter(
  (name) => name.endsWith(".ts") && (wanted.length === 0 || wanted.some((start) => name.startsWith(start))),
);
const programs = names.map((name) => ({
  name: name.replace(".ts", ""),
  command: [process.execPath, join(folder, name)] as const,
  timeoutMs: 3_600_000,
}));
conclude(await new StepRunner(root).runAll(programs, 1));
