/**
 * A long shift at one packing station in a browser, and what its page keeps in memory. It also prints the time from Enter until
 * the screen shows the recording; build first:
 *
 *   node test/long/station-page.ts [parcels, 2000]
 */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { startStation } from "../examples/packing-station.ts";
import { median, Shift } from "../examples/shift.ts";
import { StationPage } from "../examples/station-page.ts";
import { launchBrowser } from "../support/browser.ts";

const parcels = Number(process.argv[2] ?? 2000);
/** After so many, the list of the last parcels is full, and everything has been drawn at least once. */
const warmUp = Math.min(100, parcels / 5);
const windows = 20;
/** What a compiler and caches take beside the page. */
const mostGrowthMb = 2;

/** What the page has in use after a garbage collection. */
async function memoryOf(page: Page) {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  const { nodes, jsEventListeners } = await session.send("Memory.getDOMCounters");
  await session.detach();
  return { mb: usedSize / 2 ** 20, nodes, listeners: jsEventListeners };
}

const browser = await launchBrowser();
const run = await startStation();
const shift = new Shift(run.simulator);
const station = await StationPage.open(browser, run.nodeRed, "dock-1", (shown) => shift.look(shown));
try {
  await station.scan("OP-ANNA");
  await station.shows("operator", "ANNA");
  const seen: Awaited<ReturnType<typeof memoryOf>>[] = [];
  for (let number = 1; number <= parcels; number++) {
    await station.pack(`P${number}`);
    if (number >= warmUp && (number - warmUp) % Math.ceil((parcels - warmUp) / windows) === 0) {
      seen.push(await memoryOf(station.page));
    }
  }
  const of = (part: typeof seen, name: "mb" | "nodes" | "listeners") => median(part.map((one) => one[name]));
  const [first, last] = [seen.slice(0, windows / 4), seen.slice(-windows / 4)];
  for (const name of ["mb", "nodes", "listeners"] as const) {
    console.log(`  ${name}: ${of(first, name).toFixed(1)} at first, ${of(last, name).toFixed(1)} at last`);
  }
  console.log(
    `  from Enter to “recording”: ${Math.round(median(shift.delays))} ms at the median of ${parcels}`,
  );
  assert.deepEqual(shift.wrong, []);
  assert.deepEqual(station.problems, []);
  assert.ok(of(last, "mb") - of(first, "mb") < mostGrowthMb, "the page's memory grows");
  assert.ok(of(last, "nodes") < of(first, "nodes") * 1.1, "the page's elements become more");
  assert.ok(of(last, "listeners") < of(first, "listeners") * 1.1, "the page's listeners become more");
} finally {
  await station.close();
  await run.close();
  await browser.close();
}
