import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import type { Browser, Page } from "playwright-core";

import { sharedBrowser } from "../support/shared-browser.ts";
import type { Simulator, StartOptions } from "../../src/simulator/index.ts";
import { flip, openPage, type OpenPage } from "./browser-page.ts";
import { readCodes } from "./read-codes.ts";
import { useSimulators } from "./support.ts";

describe("simulator: the page's scanner", () => {
  let browser: Browser;
  let opened: OpenPage | undefined;

  before(async () => {
    browser = await sharedBrowser();
  });
  afterEach(async () => {
    await opened?.page.context().close();
    assert.deepEqual(opened?.problems, []);
  });
  // Closed after the page, which would report the end of its connection as an error.
  const start = useSimulators();

  async function open(options: StartOptions = {}): Promise<{ sim: Simulator; page: Page }> {
    const sim = await start(options);
    opened = await openPage(browser, sim);
    return { sim, page: opened.page };
  }
  const shows = (page: Page, selector: string, text: string): Promise<void> =>
    page.locator(selector, { hasText: text }).waitFor();

  it("scans the parcel on the table, by both codes of its label, and shows what was sent", async () => {
    const { sim, page } = await open();
    await shows(page, "#scanner-address", `127.0.0.1:${sim.scanner.port}`);
    await page.click("#scanner-label");
    await shows(page, "#scanner-sent", "]C100395212340000004173␍␊ sent at");
    await shows(page, "#scanner-sent", "and lost: nothing was connected");

    const socket = connect(sim.scanner.port, "127.0.0.1").setEncoding("utf8");
    await shows(page, "#scanner-links", "1 connection");
    const received = once(socket, "data");
    await page.click("#parcel-cube");
    await shows(page, "#on-table", "395212340000005323");
    await page.click("#scanner-matrix");
    const text = "]d200395212340000005323400PO-00532\x1d3302000186331300020033230002003333000200\r\n";
    assert.deepEqual(await received, [text]);
    await shows(page, "#scanner-sent", "PO-00532␝3302");
    await shows(page, "#scanner-sent", "to 1 connection");
    socket.destroy();
    await shows(page, "#scanner-links", "0 connections");
    await page.click("#scanner-nothing");
    await shows(page, "#scanner-sent", "NoRead␍␊");
  });

  it("is set by switches, and sends what is typed", async () => {
    const { sim, page } = await open();
    const { scanner } = sim;
    await flip(page, sim, "#scanner-repeats", () => scanner.settings.repeats > 1);
    await flip(page, sim, "#scanner-chunks", () => scanner.settings.chunkBytes > 0);
    await flip(page, sim, "#scanner-aim", () => !scanner.settings.aim);
    await page.fill("#scanner-code", "VIDEO_START");
    await page.keyboard.press("Enter");
    await shows(page, "#scanner-sent", "VIDEO_START␍␊ sent");
    const { aim, repeats, chunkBytes } = sim.scanner.settings;
    assert.deepEqual([aim, repeats, chunkBytes > 0], [false, 3, true]);
    await flip(page, sim, "#scanner-on", () => !scanner.on);
    await page.click("#reset");
    await page.locator("#scanner-on:checked").waitFor();
    await page.locator("#scanner-repeats:not(:checked)").waitFor();
  });

  it("shows the label so large that a scanner reads it from the screen", async () => {
    const { sim, page } = await open({ parcel: "polybag" });
    await page.click("#label");
    await page.locator("#viewer-image:visible").waitFor();
    await page.evaluate(`document.querySelector("#viewer-image").decode()`);
    const codes = await readCodes(await page.screenshot());
    const sent = [];
    for (const symbology of ["gs1-128", "gs1-datamatrix"] as const) {
      sent.push((await sim.scanner.scan({ symbology })).text.trimEnd());
    }
    assert.deepEqual(codes, sent);
    await page.click("#viewer-close");
    sim.newer.setParcel(null);
    await page.locator("#label").waitFor({ state: "hidden" });
  });
});
