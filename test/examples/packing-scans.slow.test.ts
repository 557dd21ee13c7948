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

  it("is what a scanner or an input method writes without keys, wherever somebody has clicked", async () => {
    const browsers = await dock.page.context().newCDPSession(dock.page);
    for (const key of ["Alt", "Process", "Unidentified"]) {
      await dock.page.evaluate("document.activeElement.blur()");
      await browsers.send("Input.dispatchKeyEvent", { type: "rawKeyDown", key, windowsVirtualKeyCode: 229 });
      await browsers.send("Input.dispatchKeyEvent", { type: "keyUp", key, windowsVirtualKeyCode: 229 });
      await dock.page.keyboard.insertText(key.slice(0, 1));
    }
    await dock.page.keyboard.press("Enter");
    await dock.shows("reference", /^APU$/);
    await dock.phase("recording");
  });

  it("is not what has stood in the field for more than ten seconds", async () => {
    await dock.page.keyboard.type("OLD");
    await dock.page.evaluate("window.packingStation.keyAt -= 11_000");
    await dock.scan("NEW");
    await dock.shows("reference", /^NEW$/);
    await dock.phase("recording");
  });

  it("is not what stood there before a code that comes without keys", async () => {
    await dock.page.keyboard.type("OLD");
    await dock.page.evaluate("window.packingStation.keyAt -= 11_000");
    const field = dock.page.locator("#packing-scan");
    await dock.page.waitForFunction("window.packingStation.typed === ''");
    await field.focus();
    await dock.page.keyboard.insertText("INSERTED");
    await dock.page.keyboard.press("Enter");
    await dock.shows("reference", /^INSERTED$/);
    await dock.phase("recording");
  });

  it("is also the first one after the clock of Node-RED was set back", async () => {
    await dock.scan("SET-BACK");
    await dock.phase("recording");
    const { nodeRed, nodes } = run;
    const { z } = nodes.find(({ type, name }) => type === "function" && name === "Station") ?? assert.fail();
    // The last scan is later than the clock, as it is when the clock was set back after it.
    const func = `flow.get("stations")["dock-1"].lastScan.at += 3_600_000; node.warn("was set back");`;
    const wasSetBack = nodeRed.nextLine(/was set back/);
    await nodeRed.deploy([
      ...nodes,
      { id: "once", z, type: "inject", props: [], once: true, onceDelay: 0.1, wires: [["set-back"]] },
      { id: "set-back", z, type: "function", func, outputs: 0, wires: [] },
    ]);
    await wasSetBack;
    await dock.scan("SET-BACK");
    await dock.phase("measured");
  });
});
