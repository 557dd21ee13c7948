/**
 * Every point at which an operation can fail, where npm test takes one in eight: every step, every timer, every call to
 * the disk, and the wire every so many bytes.
 *
 *   node test/long/sweep.ts [name of an operation]     SWEEP_BYTES_APART=16 SWEEP_STRIDE=1
 */
import { StepWatch } from "../sweep/steps.ts";
import { sweep, sweptOperations } from "../sweep/sweep.ts";

const [only = ""] = process.argv.slice(2);
const density = {
  stride: Number(process.env["SWEEP_STRIDE"] ?? 1),
  bytesApart: Number(process.env["SWEEP_BYTES_APART"] ?? 16),
  maxSteps: Number.POSITIVE_INFINITY,
};
const atOnce = 24;

const watch = new StepWatch();
const since = performance.now();
let passed = 0;
let failed = 0;
for (const operation of sweptOperations.filter(({ name }) => name.includes(only))) {
  const { cases, ends, failures } = await sweep(watch, operation, density, atOnce);
  passed += cases - failures.length;
  failed += failures.length;
  const told = [...ends].sort().map(([end, count]) => `${count} ${end}`);
  console.log(`${operation.name}: ${cases} cases: ${told.join(", ")}`);
  for (const failure of failures.slice(0, 5)) {
    console.log(`  ${failure.replaceAll("\n", "\n  ")}`);
  }
}
watch.close();
console.log(
  `sweep: ${passed} passed, ${failed} failed in ${Math.round((performance.now() - since) / 1000)} s`,
);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
