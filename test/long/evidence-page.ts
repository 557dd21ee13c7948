/**
 * The evidence page of a store with a million packages in a browser:  node test/long/evidence-page.ts [packages] [rounds]
 *
 * Measures how long the server takes for a search, and how long it takes from a key until the results are drawn. Prints the median and
 * the worst of all rounds; fails if a median is over its limit.
 */
import assert from "node:assert/strict";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import * as v from "valibot";
import { fillArchive } from "../archive/packages.ts";
import { databaseOf } from "../archive/store.ts";
import { withPage } from "../evidence/support.ts";
import { fillIndex } from "../database/filled-index.ts";
import { launchBrowser } from "../support/browser.ts";

const packages = Number(process.argv[2] ?? 1_000_000);
const rounds = Number(process.argv[3] ?? 20);
const searchLimitMs = 50;
const drawLimitMs = 200;
const rules = { by: "proxy", header: "x-user", addresses: ["127.0.0.1"], managers: [] } as const;
/** Those with folders, which are the newest: a page of results reads the manifest and the measurement of each. */
const real = Array.from({ length: 48 }, (_, n) => `real-${n}`);
const measurement = JSON.stringify({
  length: 40,
  width: 30,
  height: 20,
  weight: 1.27,
  dimsUnitOfMeasure: "cm",
  weightUnitOfMeasure: "kg",
});

const times = v.object({ searchMs: v.number(), drawnMs: v.number(), found: v.number() });
type Times = v.InferOutput<typeof times>;

/** Types a text, and waits until its results are painted. */
const type = (text: string): string => `new Promise((resolve) => {
  const [field, list] = [document.querySelector("#search"), document.querySelector("#results")];
  const startedAt = performance.now();
  let wasBusy = false;
  const watch = new MutationObserver(() => {
    const isBusy = list.getAttribute("aria-busy") === "true";
    if (wasBusy && !isBusy) {
      watch.disconnect();
      requestAnimationFrame(() => requestAnimationFrame(() => {
        const drawnMs = performance.now() - startedAt;
        const { requestStart, responseEnd } = performance.getEntriesByType("resource")
          .filter(({ name }) => name.includes("api/packages?text=")).at(-1);
        resolve({ searchMs: responseEnd - requestStart, drawnMs, found: list.children.length });
      }));
    }
    wasBusy = isBusy;
  });
  watch.observe(list, { attributes: true, attributeFilter: ["aria-busy"] });
  performance.clearResourceTimings();
  field.value = ${JSON.stringify(text)};
  field.dispatchEvent(new InputEvent("input", { bubbles: true }));
})`;

/** Waits for the pictures on the screen, which the server reads after the results. */
const pictures = `Promise.all([...document.images]
  .filter((one) => !one.complete && one.getBoundingClientRect().top < innerHeight)
  .map((one) => new Promise((end) => ["load", "error"].forEach((what) => one.addEventListener(what, end)))))`;

async function measure(page: Page, text: string): Promise<Times> {
  const measured = v.parse(times, await page.evaluate(type(text)));
  await page.evaluate(pictures);
  return measured;
}

const missed: string[] = [];
function report(what: string, values: readonly number[], limit: number): void {
  const sorted = values.toSorted((one, other) => one - other);
  const [median = 0, worst = 0] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
  console.log(`${what}: ${median.toFixed(1)} ms, at worst ${worst.toFixed(1)} ms (limit ${limit} ms)`);
  if (median > limit) {
    missed.push(what);
  }
}

const root = await realpath(await mkdtemp(join(tmpdir(), "evidence-page-long-")));
const browser = await launchBrowser();
try {
  await fillArchive(root, real, (id) => ({
    measurement,
    references: {
      transactionReference: `ORDER-9${id}`,
      customReference1: "CUSTOMER-7",
      customReference2: null,
      customReference3: null,
      barcodeReference: `4006381${id}`,
    },
  }));
  fillIndex(databaseOf(root), packages);
  await withPage(root, rules, async ({ url }) => {
    const context = await browser.newContext({ extraHTTPHeaders: { "x-user": "Anna" }, locale: "en" });
    const page = await context.newPage();
    const loaded: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const startedAt = performance.now();
      await page.goto(url);
      await page.locator("#results li").nth(23).waitFor();
      loaded.push(performance.now() - startedAt);
    }
    report(`open the page with the newest of ${packages} packages`, loaded, Infinity);
    // What people type, key by key, a barcode, a size and a weight, and a text that nothing begins with.
    const texts = [
      "O",
      "order-9",
      "ORDER-9real-1",
      "4006381",
      "CUSTOMER-7",
      "40x30x20 cm",
      "1.27 kg",
      "nobody's",
    ];
    const found = new Map<string, Times[]>(texts.map((text) => [text, []]));
    for (let round = 0; round < rounds; round += 1) {
      for (const text of texts) {
        found.get(text)?.push(await measure(page, text));
      }
    }
    for (const [text, all] of found) {
      assert.equal((all[0]?.found ?? 0) > 0, text !== "nobody's", text);
      report(
        `search for “${text}”`,
        all.map(({ searchMs }) => searchMs),
        searchLimitMs,
      );
      report(
        `draw the results of “${text}”`,
        all.map(({ drawnMs }) => drawnMs),
        drawLimitMs,
      );
    }
    await context.close();
  });
} finally {
  await browser.close();
  await rm(root, { recursive: true, force: true });
}
missed.forEach((what) => console.error(`over its limit: ${what}`));
process.exitCode = missed.length === 0 ? 0 : 1;
