import assert from "node:assert/strict";
import { readPackages } from "../archive/support.ts";
import { nodeRedMajor } from "../support/node-red.ts";
import { sharedBrowser } from "../support/shared-browser.ts";
import { changed, startStation, type StationRun } from "./packing-station.ts";
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
    await dock.page.locator('[data-test="entry"][data-evidence="saved"]').nth(1).waitFor();
    // One parcel in two minutes, not in the five minutes that a shift might be taken for at least.
    await dock.page.evaluate(
      `(({ state }) => { state.shift.since = state.now - 120_000; })(window.packingStation)`,
    );
    await dock.shows("rate", /^(?:30|2[5-9])$/);
  });

  it("archives a parcel that cannot be billed, and says so of the bill alone", async () => {
    const { nodeRed, nodes } = run;
    const strict = (type: string) =>
      type === "dimensioner-billable-weight" ? { requireLegalForTrade: true } : {};
    await nodeRed.deploy(nodes.map((node) => ({ ...node, ...strict(node.type) })));
    await dock.pack("UNBILLED");
    await dock.shows("billable", /^✖ Not billable: Check that it was weighed, and measured alone\./);
    await dock.page.locator('[data-test="entry"][data-evidence="saved"]', { hasText: "UNBILLED" }).waitFor();
    assert.equal(await dock.page.locator('[data-test="notice"]', { hasText: "Measured" }).count(), 1);
    await confirm();
    await nodeRed.deploy(nodes);
    const manifests = [...(await readPackages(run.archive)).values()];
    const manifest = manifests.find(({ references }) => references.transactionReference === "UNBILLED");
    assert.equal(manifest?.operator, "PACKER", "who was signed in");
  });

  it("asks the table of the example before it begins, keeps what it says, and adds the label that comes later", async () => {
    const { nodeRed, nodes, archive } = run;
    await nodeRed.deploy(changed(nodes, { ASK: "Your orders", READ_ALOUD: "true" }));
    await dock.page.evaluate(
      `window.spoken = []; SpeechSynthesis.prototype.speak = ({ text, lang }) => window.spoken.push(lang + ": " + text)`,
    );
    await dock.scan("ORDER-4713");
    await dock.shows("notice", "Stop: ORDER-4713: cancelled and refunded: do not pack");
    await dock.phase("idle");
    assert.equal(run.simulator.requestsTo("newer", "/api/v1/video/start").length, 3, "nothing was begun");
    await dock.pack("ORDER-4711");
    assert.equal(await dock.text("note"), "A gift: no invoice in the box");
    await dock.scan("STATION_LABEL");
    await dock.shows("do", "Scan the label of ORDER-4711");
    await dock.scan("1Z-LATER");
    await dock.shows("notice", "1Z-LATER was added to ORDER-4711.");
    await confirm();
    // After a restart the stations know nothing of it any more, but the archive does.
    await run.restart();
    await dock.shows("operator", "Nobody is signed in");
    await dock.scan("OP-PACKER");
    await dock.shows("operator", "PACKER");
    await dock.scan("order-4711");
    await dock.shows("notice", /order-4711 was packed at \d\d:\d\d\. Another box of it, or start again\?/);
    await dock.press("cancel");
    await dock.shows("notice", "order-4711 was not begun");
    await dock.scan("1Z-LATER");
    await dock.shows("notice", /1Z-LATER was packed at/);
    await dock.press("cancel");
    const [manifest] = [...(await readPackages(archive)).values()].filter(
      ({ references }) => references.transactionReference === "ORDER-4711",
    );
    assert.equal(manifest?.note, "A gift: no invoice in the box · gold");
    const spoken = await dock.page.evaluate<string[]>("window.spoken");
    assert.deepEqual(spoken.slice(0, 2), [
      "en: ORDER-4713: cancelled and refunded: do not pack",
      "en: A gift: no invoice in the box",
    ]);
    assert.match(spoken.at(-1) ?? "", /^en: 1Z-LATER was packed at \d\d:\d\d\./);
    // The browser reports what it could not reach meanwhile.
    dock.problems.splice(0);
  });

  it("says on its lamp that the device is away, in words for a packer, and that it is back", async () => {
    run.simulator.newer.setPower(false);
    await dock.page.locator('[data-test="phase"][data-away="true"]', { hasText: "Not reachable" }).waitFor();
    await dock.page.waitForFunction("document.title === 'Dock 1 – Not reachable'");
    await dock.shows("do", "Do not begin a parcel. Check that the device is switched on");
    await dock.scan("AWAY");
    await dock.shows("notice", "AWAY is not being recorded. Do what is written below");
    assert.doesNotMatch(await dock.page.locator(".packing").innerText(), /127\.0\.0\.1|localhost|portal/);
    run.simulator.newer.setPower(true);
    await dock.page.locator('[data-test="phase"][data-away="false"]', { hasText: "Ready" }).waitFor();
  });

  it("says above all else that it has no connection, and nothing that it cannot know then, until it has one", async () => {
    await dock.scan("CUT-OFF");
    await dock.phase("recording");
    await dock.page.waitForFunction("document.title === 'Dock 1 – Recording'");
    await dock.page.context().setOffline(true);
    // What is open already would stay so.
    const socket = "document.querySelector('#app').__vue_app__._context.provides.$socket";
    await dock.page.evaluate(`${socket}.io.engine.close()`);
    await dock.shows("notice", "No connection to Node-RED. Do not scan");
    const { y = Infinity } = (await dock.page.locator('[data-test="notice"]').boundingBox()) ?? {};
    assert.ok(y < 200, "it is seen without scrolling");
    assert.equal(await dock.page.locator(".peer").count(), 0);
    await dock.press("cancel");
    await dock.page.context().setOffline(false);
    await dock.page.evaluate(`${socket}.disconnect().connect()`);
    await dock.shows("device", "reachable");
    await dock.page.locator('[data-test="notice"]').waitFor({ state: "detached" });
    assert.equal(await dock.phase("recording"), "recording", "nothing was sent later");
    dock.problems.splice(0);
    await dock.press("cancel");
    await dock.phase("idle");
  });
});
