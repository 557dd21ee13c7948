/**
 * Random sequences for as long as it is given, where npm test takes forty.
 *
 *   node test/long/model-based.ts [minutes, 10]     TEST_SEED, MODEL_PATH
 */
import { randomInt } from "node:crypto";
import { openEnvironment, tryMany } from "../model-based/model.ts";

const [minutes = "10"] = process.argv.slice(2);
const until = performance.now() + Number(minutes) * 60_000;
/** With a given seed, its sequences run once. */
const given = process.env["TEST_SEED"];
const lastAt = given === undefined ? until : 0;
const sequencesEach = 250;

let passed = 0;
let failed = 0;
do {
  const seed = Number(given ?? randomInt(2 ** 31));
  // A new runtime from time to time, because Node-RED and the simulator keep what they have received.
  const environment = await openEnvironment();
  const withinMs = Math.max(1_000, until - performance.now());
  const { runs, failure } = await tryMany(environment, {
    seed,
    runs: sequencesEach,
    withinMs,
    path: process.env["MODEL_PATH"],
  });
  await environment.close();
  passed += runs;
  if (failure !== undefined) {
    failed += 1;
    console.log(failure);
  }
  console.log(`seed ${seed}: ${runs} sequences, ${failure === undefined ? "all hold" : "one does not"}`);
} while (performance.now() < lastAt);
console.log(`model-based: ${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 && passed > 0 ? 0 : 1;
