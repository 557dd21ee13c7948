import assert from "node:assert/strict";
import { nodeRedMajor } from "../support/node-red.ts";
import { sharedBrowser } from "../support/shared-browser.ts";
import { startStation, type StationRun } from "./packing-station.ts";
import { pictureIsDrawn, StationPage } from "./station-page.ts";

describe(`example 30, a parcel at the packing station, in a browser on Node-RED ${nodeRedMajor}`, () => {
  let run: StationRun;
  let dock: StationPage;

  before(async () => {
    const [browser, started] = await Promise.all([sharedBrowser(), startStation()]);
    run = started;
    dock = await StationPage.open(browser, run.nodeRed, "dock-1");
    await dock.scan("OP-PACKER");
    await dock.shows("operator", "PACKER");
  });
  afterEach(() => assert.deepEqual(dock.problems.splice(0), []));
  after(async () => {
    await dock?.close();
    await run?.close();
  });

  async function confirm(): Promise<void> {
    await dock.press("confirm");
    await dock.phase("idle");
  }

  it("shows dimensions, weight, billable weight and picture, and a limit by more than a color", async () => {
    await dock.pack("SHOE-BOX");
    await dock.shows("billable", /^✔ Billable weight: .+ kg \(dimensional weight\)\. Within all limits/);
    assert.match((await dock.text("figures")).replace(/\s+/g, " "), /Length 33\.5 cm.*Weight 1\.27 kg/);
    await dock.page.waitForFunction(pictureIsDrawn);
    run.simulator.newer.setParcel("tube-box");
    await dock.pack("TUBE");
    await dock.shows("billable", /^▲ Billable weight: .+ Over a limit: long/);
    await dock.press("cancel");
    await dock.phase("idle");
    assert.equal(await dock.text("count"), "1");
  });

  it("archives a parcel that cannot be billed, and says so of the bill alone", async () => {
    const { nodeRed, nodes } = run;
    const strict = (type: string) =>
      type === "dimensioner-billable-weight" ? { requireLegalForTrade: true } : {};
    await nodeRed.deploy(nodes.map((node) => ({ ...node, ...strict(node.type) })));
    await dock.pack("UNBILLED");
    await dock.shows("billable", /^✖ Not billable: /);
    await dock.page.locator('[data-test="entry"][data-evidence="saved"]', { hasText: "UNBILLED" }).waitFor();
    assert.equal(await dock.page.locator('[data-test="notice"]', { hasText: "Measured" }).count(), 1);
    await confirm();
    await nodeRed.deploy(nodes);
  });
});
