/**
 * A million scans of any kind: none ends in anything but ERR_INPUT, and none takes long. And how many labels a core reads in
 * a second:  npm run test:long -- scans
 */
import assert from "node:assert/strict";
import * as fc from "fast-check";
import { DimensionerError } from "../../src/errors/dimensioner-error.ts";
import { readScan, readScans } from "../../src/scan/read-scans.ts";
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

const labelsEach = 100_000;
const leastPerSecond = 200_000;
const labels = {
  "a label with five elements": "]C101095011015300031727123110ABC123\x1d21SER-4711\x1d3103001750\r\n",
  "a logistic label with six":
    "]d200395212340000004173400PO-00417\x1d3302000127331300033533230002103333000125\r\n",
};

/** In processor time, the best of several rounds: other programs take the caches away. */
function perSecond(label: string): number {
  const today = new Date();
  let best = 0;
  for (let round = 0; round < 10; round++) {
    const before = process.cpuUsage();
    for (let count = 0; count < labelsEach; count++) {
      readScan(label, { today });
    }
    const { user, system } = process.cpuUsage(before);
    best = Math.max(best, (labelsEach / (user + system)) * 1e6);
  }
  return Math.round(best);
}

for (const [what, label] of Object.entries(labels)) {
  console.log(`${what}: ${perSecond(label)} a second`);
}
assert.ok(perSecond(labels["a label with five elements"]) >= leastPerSecond);
