/** A million scans of any kind: none ends in anything but ERR_INPUT, and none takes long:  npm run test:long -- scans */
import assert from "node:assert/strict";
import * as fc from "fast-check";
import { DimensionerError } from "../../src/errors/dimensioner-error.ts";
import { readScans } from "../../src/scan/read-scans.ts";
import { anything } from "../scan/any-scan.ts";

const rounds = 1_000;
const scansEach = 1_000;
const seed = Math.floor(Math.random() * 2 ** 31);
console.log(`seed ${seed}`);

/** The longest round, in processor time: by the clock, other programs would count too. */
let longestMs = 0;
for (let round = 0; round < rounds; round++) {
  const scans = fc.sample(anything, { numRuns: scansEach, seed: seed + round });
  const before = process.cpuUsage();
  for (const scan of scans) {
    try {
      readScans(scan);
    } catch (error) {
      assert.ok(error instanceof DimensionerError && error.code === "ERR_INPUT", JSON.stringify(scan));
    }
  }
  const { user, system } = process.cpuUsage(before);
  longestMs = Math.max(longestMs, (user + system) / 1000);
}
console.log(
  `${rounds * scansEach} scans; at most ${(longestMs / scansEach).toFixed(3)} ms each, on average of a round`,
);
assert.ok(longestMs / scansEach < 1);
