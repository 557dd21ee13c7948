import assert from "node:assert/strict";
import type { Browser, Page } from "playwright-core";
import { changeDatabase, fillArchive, keepEndedJobs } from "../archive/packages.ts";
import { databaseOf } from "../archive/store.ts";
import { withFolder } from "../media/support.ts";
import { faultsOfPage } from "../simulator/browser-page.ts";
import { longestWaitMs } from "../support/browser.ts";
import { sharedBrowser } from "../support/shared-browser.ts";
import { withPage } from "./support.ts";

const rules = { by: "proxy", header: "x-user", addresses: ["127.0.0.1"], managers: ["Anna"] } as const;
const none = {
  transactionReference: null,
  customReference1: null,
  customReference2: null,
  customReference3: null,
  barcodeReference: null,
};
/** With a character that turns the direction of the text after it. */
const turned = "ORDER-\u202e4711";
const archived = [
  { references: { ...none, transactionReference: turned }, device: "Dock 4" },
  { references: { ...none, transactionReference: "ORDER-4712" }, device: "Dock 10" },
  {
    references: { ...none, transactionReference: "RETURN-1" },
    device: "Dock 10",
    work: "return",
    deviceUtcTime: "0001-01-01T00:00:00Z",
  },
];

describe("the search of the evidence page", () => {
  let browser: Browser;
  before(async () => {
    browser = await sharedBrowser();
  });

  const withSearch = (
    work: (page: Page, open: () => Promise<Page>) => Promise<void>,
    locale = "en-US",
    change = "SELECT 1",
  ): Promise<void> =>
    withFolder(async (root) => {
      await fillArchive(root, []);
      keepEndedJobs(databaseOf(root));
      await fillArchive(root, ["m0", "m1", "m2"], (_id, n) => archived[n] ?? assert.fail());
      changeDatabase(databaseOf(root), change);
      changeDatabase(
        databaseOf(root),
        `UPDATE packages SET archived_at = '2026-03-0' || (indexed_order + 1) || 'T11:00:00.000Z'`,
      );
      await withPage(root, rules, async ({ url }) => {
        const context = await browser.newContext({
          locale,
          timezoneId: "Europe/Berlin",
          extraHTTPHeaders: { "x-user": "Anna" },
        });
        try {
          context.setDefaultTimeout(longestWaitMs);
          const open = async (): Promise<Page> => {
            const page = await context.newPage();
            await page.goto(url);
            await page.locator("#results li").nth(2).waitFor();
            return page;
          };
          await work(await open(), open);
        } finally {
          await context.close();
        }
      });
    });

  /** Searches, and waits for as many results. */
  async function search(page: Page, text: string, names: readonly string[]): Promise<void> {
    await page.fill("#search", text);
    await page.locator('#results[aria-busy="false"]').waitFor({ state: "attached" });
    await page.waitForFunction(
      `JSON.stringify([...document.querySelectorAll('#results[aria-busy="false"] b')].map((one) => one.textContent)) ===
        ${JSON.stringify(JSON.stringify(names))}`,
    );
  }
  const shown = "ORDER-⟨U+202E⟩4711";

  it("finds any part of a number, several words, and a day as the browser writes it", () =>
    withSearch(async (page) => {
      await search(page, "4711", [shown]);
      await search(page, "dock 10 order", ["ORDER-4712"]);
      await search(page, "03/03/2026", ["ORDER-4712"]);
      await search(page, "2026/03/02", [shown]);
      await search(page, "2.3.2026 - 3.3.2026", ["ORDER-4712", shown]);
      await search(page, "Mar 3, 2026", ["ORDER-4712"]);
      await search(page, "Mar 3, 2026, 12:00:00 PM", ["ORDER-4712"]);
      await search(page, "nothing", []);
      assert.deepEqual(await page.locator("#only-beginnings").count(), 0);
      await search(page, "RE", ["RETURN-1"]);
      await page.locator("#only-beginnings").waitFor();
    }));

  it("says whose times it shows, in which zone, and that the clock of a device was not set", () =>
    withSearch(async (page) => {
      await page.locator(".hint", { hasText: "Europe/Berlin, GMT+" }).waitFor();
      const [unset, measured] = await page.locator("#results .about").allInnerTexts();
      assert.match(unset ?? "", /Measured \(clock of the device\): not set/);
      assert.match(unset ?? "", /Archived \(clock of Node-RED\): \w+ \d+, 20\d\d/);
      assert.match(measured ?? "", /^ORDER-4712\nDock 10 · Archived \(clock of Node-RED\): \w+ \d+, 20\d\d/);
      await page.locator("#results a").first().click();
      await page.locator("dd", { hasText: "not set" }).waitFor();
    }));

  it("shows only what the filters leave, also after a look at a package", () =>
    withSearch(async (page) => {
      await page.click("#filters summary");
      await page.selectOption("#filter-device", "Dock 10");
      await search(page, "", ["RETURN-1", "ORDER-4712"]);
      await page.fill("#filter-to", "2026-03-03");
      await search(page, "order", ["ORDER-4712"]);
      assert.deepEqual(await faultsOfPage(page), []);
      await page.locator("#results a").first().click();
      await page.fill("#reason", "a claim");
      await page.keyboard.press("Enter");
      await page.locator("#hold-state", { hasText: "a claim" }).waitFor();
      await page.click("#back");
      await search(page, "order", ["ORDER-4712"]);
      await page.click("#clear-filters");
      await search(page, "order", ["ORDER-4712", shown]);
      await page.selectOption("#filter-work", { label: "Return" });
      await search(page, "", ["RETURN-1"]);
      await page.selectOption("#filter-work", { label: "Packing" });
      await search(page, "", ["ORDER-4712", shown]);
      await page.locator("#results a").first().click();
      await page.locator(".facts dd", { hasText: /^Packing$/ }).waitFor();
      await page.click("#back");
      await page.check("#filter-onHold");
      await search(page, "", ["ORDER-4712"]);
      await page.check("#filter-incomplete");
      await search(page, "", []);
      await page.uncheck("#filter-incomplete");
      await page.check("#filter-film");
      await search(page, "", []);
    }));

  it("suggests, where nothing is found, what is, and the last searches of this browser", () =>
    withSearch(async (page, open) => {
      await search(page, "ORDER-4712", ["ORDER-4712"]);
      await page.locator("#results a").first().click();
      await page.click("#back");
      await search(page, "ORDER-4715", []);
      await page.locator("#suggestions button", { hasText: /^ORDER-471$/ }).waitFor();
      assert.deepEqual(await faultsOfPage(page), []);
      const other = await open();
      await search(other, "nobody", []);
      await other.locator("#last-searches button", { hasText: "ORDER-4712" }).click();
      await other.locator("#results b", { hasText: "ORDER-4712" }).waitFor();
      assert.equal(await other.inputValue("#search"), "ORDER-4712");
      await search(other, "nobody", []);
      await other.click("#forget-searches");
      await other.locator("#last-searches").waitFor({ state: "detached" });
      await search(page, "", ["RETURN-1", "ORDER-4712", shown]);
      await page.reload();
      await page.locator("#results li").nth(2).waitFor();
      await search(page, "nobody", []);
      assert.equal(await page.locator("#last-searches").count(), 0);
    }));

  it("is in the address: it survives a reload, also of a package, and leads others to the same", () =>
    withSearch(async (page, open) => {
      const fresh = page.url();
      await page.click("#filters summary");
      await page.selectOption("#filter-device", "Dock 10");
      await page.fill("#filter-to", "2026-03-03");
      await search(page, "order & 47", []);
      await search(page, "order", ["ORDER-4712"]);
      const isThere = async (one: Page): Promise<void> => {
        await one.locator("#clear-filters").waitFor();
        await one.locator("#results li:only-child b", { hasText: "ORDER-4712" }).waitFor();
        assert.equal(await one.inputValue("#search"), "order");
        assert.equal(await one.inputValue("#filter-device"), "Dock 10");
        assert.equal(await one.inputValue("#filter-to"), "2026-03-03");
      };
      await page.reload();
      await isThere(page);
      const address = page.url();
      await page.locator("#results a").first().click();
      await page.locator("#package-title").waitFor();
      await page.reload();
      await page.locator("#package-title").waitFor();
      await page.click("#back");
      await isThere(page);
      assert.equal(page.url(), address);
      await page.click("#clear-filters");
      await search(page, "", ["RETURN-1", "ORDER-4712", shown]);
      assert.equal(page.url(), fresh);
      await page.goto(address);
      await isThere(page);
      const other = await open();
      await other.goto(address);
      await isThere(other);
    }));

  it("names the computer that alone has media of a package", () =>
    withSearch(
      async (page) => {
        const pinned = await page.locator("#pinned").textContent();
        assert.match(pinned ?? "", /^Not delivered yet: 1\..*RETURN-1 \(.*, packing-2\)$/);
        assert.equal(await page.locator("#undelivered").count(), 0);
      },
      "en-US",
      `UPDATE jobs SET state = 'collecting', accepted_at = '2026-03-01T11:00:00.000Z' WHERE transaction_id = 'm2';
        UPDATE job_media SET spool_id = 'spool', spool_host = 'packing-2'
          WHERE job_id = (SELECT job_id FROM jobs WHERE transaction_id = 'm2')`,
    ));

  it("reads a day by the locale of the browser", () =>
    withSearch(async (page) => {
      await search(page, "02/03/2026", [shown]);
      await search(page, "3/4/2026", []);
    }, "en-GB"));

  it("shows the same part of the results again after a look at a package", () =>
    withSearch(async (page) => {
      await page.setViewportSize({ width: 400, height: 300 });
      await page.locator("#results a").last().scrollIntoViewIfNeeded();
      const before = await page.evaluate("scrollY");
      await page.locator("#results a").last().click();
      await page.locator("#package-title").waitFor();
      await page.goBack();
      await page.locator("#results li").nth(2).waitFor();
      assert.deepEqual([await page.evaluate("scrollY"), Number(before) > 200], [before, true]);
    }));
});
