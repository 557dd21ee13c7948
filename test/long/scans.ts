/**
 * A million scans of any kind: none ends in anything but ERR_INPUT, and none takes longer than a millisecond. Prints how many of
 * each usual kind a core reads in a second; the bench judges that:  npm run test:long -- scans
 */
import assert from "node:assert/strict";
import * as fc from "fast-check";
import { measureCodes } from "../../bench/parts/codes.ts";
import { codesWanted } from "../../bench/report/others.ts";
import { DimensionerError } from "../../src/errors/dimensioner-error.ts";
import { mostCharacters, readScans } from "../../src/scan/read-scans.ts";
import { anything } from "../scan/any-scan.ts";
import { longestScans } from "../scan/longest-scans.ts";

const rounds = 1_000;
const scansEach = 1_000;
const longestMs = 1;
const seed = Math.floor(Math.random() * 2 ** 31);
console.log(`seed ${seed}`);

/** Reads it once; how long that took. */
function timed(scan: string): number {
  const before = performance.now();
  try {
    readScans(scan);
  } catch (error) {
    assert.ok(error instanceof DimensionerError && error.code === "ERR_INPUT", JSON.stringify(scan));
  }
  return performance.now() - before;
}

/**
 * How long a scan takes by itself. The processor is also used by other programs, the compiler and the garbage collector; they
 * make a reading longer now and then, but not every one of many. A scan that is slow by itself is slow each time.
 */
function timeOf(scan: string): number {
  let shortest = timed(scan);
  for (let again = 0; again < 200 && shortest > longestMs / 10; again++) {
    shortest = Math.min(shortest, timed(scan));
  }
  return shortest;
}

let slowest = 0;
for (let round = 0; round < rounds; round++) {
  for (const scan of fc.sample(anything, { numRuns: scansEach, seed: seed + round })) {
    slowest = Math.max(slowest, timeOf(scan));
  }
}
console.log(`${rounds * scansEach} scans, the slowest ${slowest.toFixed(3)} ms`);
assert.ok(slowest <= longestMs);

for (const scan of longestScans(mostCharacters)) {
  const ms = timeOf(scan);
  assert.ok(ms <= longestMs, `${ms.toFixed(3)} ms: ${JSON.stringify(scan.slice(0, 40))}…`);
}

for (const { kind, perSecond } of measureCodes({ rounds: 10, scansEach: 100_000 }, () => undefined)) {
  console.log(`${kind}: ${Math.round(perSecond)} a second (wanted: ${codesWanted})`);
}
