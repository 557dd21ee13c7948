import assert from "node:assert/strict";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { readScan } from "../../src/index.ts";
import { fillArchive } from "../archive/packages.ts";
import { longestWaitMs } from "../support/browser.ts";
import { sharedBrowser } from "../support/shared-browser.ts";
import { withPage } from "./support.ts";

const rules = { by: "proxy", header: "x-user", addresses: ["127.0.0.1"], managers: [] } as const;
/** A carton with a lot and a serial number: the separator is between them. */
const [lot, serial] = ["010401234512345610LOT7", "21SERIAL9"] as const;
/** The first label has two packages; the last one's package has its scan. */
const labels = ["PO-7", "PO-7", "PO-8", "PO-9", "PO-10"];

describe("a scanner that types into the evidence page", () => {
  let root: string;
  before(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), "packages-")));
    await fillArchive(
      root,
      labels.map((_, n) => `m${n}`),
      (_id, n) => ({
        scan: labels[n] === "PO-10" ? readScan(`]C1${lot}\u001d${serial}`) : null,
        references: {
          transactionReference: labels[n] ?? null,
          customReference1: null,
          customReference2: null,
          customReference3: null,
          barcodeReference: null,
        },
      }),
    );
  });
  after(() => rm(root, { recursive: true, force: true }));

  const scanning = (body: (page: Page, scan: (code: string) => Promise<void>) => Promise<void>) =>
    withPage(root, rules, async ({ url }) => {
      const browser = await sharedBrowser();
      const context = await browser.newContext({ extraHTTPHeaders: { "x-user": "Anna" } });
      try {
        context.setDefaultTimeout(longestWaitMs);
        const page = await context.newPage();
        await page.goto(url);
        await page.locator("#search:focus").waitFor();
        await body(page, async (code) => {
          await page.keyboard.type(code);
          await page.keyboard.press("Enter");
        });
      } finally {
        await context.close();
      }
    });
  const titleOf = (page: Page): Promise<string> => page.locator("#package-title").innerText();

  it("opens the package of the second label where the first one has several packages", () =>
    scanning(async (page, scan) => {
      await scan("PO-7");
      await page.locator("#results li:first-child a:focus").waitFor();
      await scan("PO-8");
      assert.equal(await titleOf(page), "PO-8");
    }));

  it("opens the package of the second label after somebody has come back from that of the first", () =>
    scanning(async (page, scan) => {
      await scan("PO-8");
      assert.equal(await titleOf(page), "PO-8");
      await page.click("#back");
      await page.locator("#search:focus").waitFor();
      await scan("PO-9");
      assert.equal(await titleOf(page), "PO-9");
    }));

  it("opens the package of the second label while that of the first is shown, but not from within a field", () =>
    scanning(async (page, scan) => {
      await scan("PO-8");
      assert.equal(await titleOf(page), "PO-8");
      await page.locator("#export-claim").fill("");
      await page.keyboard.type("CLAIM-1");
      assert.equal(await titleOf(page), "PO-8");
      assert.equal(await page.inputValue("#export-claim"), "CLAIM-1");
      await page.locator("#package-title").click();
      await scan("PO-9");
      assert.equal(await titleOf(page), "PO-9");
    }));

  it("opens the package of the second label where the first one has none", () =>
    scanning(async (page, scan) => {
      await scan("PO-6");
      await page.locator("#result-count", { hasText: "No packages found" }).waitFor();
      await scan("PO-9");
      assert.equal(await titleOf(page), "PO-9");
    }));

  it("may send the group separator as Ctrl+], also in front of a code", () =>
    scanning(async (page, scan) => {
      await scan("PO-7");
      await page.locator("#results li:first-child a:focus").waitFor();
      for (const begin of [() => page.keyboard.type("]C1"), () => page.keyboard.press("Control+]")]) {
        await begin();
        await page.keyboard.type(lot);
        await page.keyboard.press("Control+]");
        await scan(serial);
        assert.equal(await titleOf(page), "PO-10");
        await page.click("#back");
        await page.locator("#search:focus").waitFor();
      }
    }));
});
