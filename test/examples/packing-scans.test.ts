import assert from "node:assert/strict";
import type { Browser } from "playwright-core";
import { nodeRedMajor } from "../support/node-red.ts";
import { sharedBrowser } from "../support/shared-browser.ts";
import { startStation, type StationRun } from "./packing-station.ts";
import { StationPage } from "./station-page.ts";

describe(`what the packing station takes for a scan, on Node-RED ${nodeRedMajor}`, () => {
  let browser: Browser;
  let run: StationRun;
  let dock: StationPage;

  before(async () => {
    [browser, run] = await Promise.all([sharedBrowser(), startStation({ settings: { SIGN_IN: "false" } })]);
    dock = await StationPage.open(browser, run.nodeRed, "dock-1");
  });
  afterEach(async () => {
    await dock.press("cancel");
    await dock.phase("idle");
  });
  after(async () => {
    await dock?.close();
    await run?.close();
  });

  it("is a code that comes into the field without keys: pasted, or by the keyboard of a tablet", async () => {
    await dock.page.locator("#packing-scan").fill("PASTED");
    await dock.page.keyboard.press("Enter");
    await dock.phase("recording");
    await dock.shows("reference", "PASTED");
  });

  it("is not what has stood in the field for more than ten seconds", async () => {
    await dock.page.keyboard.type("OLD");
    await dock.page.evaluate("window.packingStation.keyAt -= 11_000");
    await dock.scan("NEW");
    await dock.shows("reference", /^NEW$/);
    await dock.phase("recording");
  });
});
