import assert from "node:assert/strict";
import type { Browser } from "playwright-core";
import { nodeRedMajor } from "../support/node-red.ts";
import { sharedBrowser } from "../support/shared-browser.ts";
import { changed, startStation, type StationRun } from "./packing-station.ts";
import { StationPage } from "./station-page.ts";

describe(`the printed codes of the packing station, on Node-RED ${nodeRedMajor}`, () => {
  let browser: Browser;
  let run: StationRun;
  let dock: StationPage;

  before(async () => {
    [browser, run] = await Promise.all([sharedBrowser(), startStation({ settings: { SIGN_IN: "false" } })]);
    dock = await StationPage.open(browser, run.nodeRed, "dock-1");
  });
  afterEach(() => assert.deepEqual(dock.problems.splice(0), []));
  after(async () => {
    await dock?.close();
    await run?.close();
  });

  /** The start of a parcel's video, of which nobody knows whether the device has executed it. */
  async function startInDoubt(code: string): Promise<void> {
    const fault = { kind: "close", acts: true } as const;
    run.simulator.faults.add({ surface: "newer", path: "/api/v1/video/start", fault });
    await dock.scan(code);
    await dock.phase("check");
  }

  it("measure, measure again and confirm a parcel", async () => {
    await dock.scan("PRINTED");
    await dock.phase("recording");
    await dock.scan("STATION_AGAIN");
    await dock.phase("measured");
    await dock.scan("STATION_AGAIN");
    await dock.shows("entry", "measured 2 times");
    await dock.scan("STATION_CONFIRM");
    await dock.phase("idle");
    assert.equal(await dock.text("count"), "1");
  });

  it("are not taken from a scanner that has read nothing: the screen says so, and nothing changes", async () => {
    for (const nothing of ["NoRead", "]C142030301"]) {
      await dock.scan(nothing);
      await dock.shows("notice", "Nothing was read. Scan again.");
      await dock.phase("idle");
    }
    await dock.scan("AFTER");
    await dock.phase("recording");
    await dock.scan("NoRead");
    await dock.shows("notice", "Nothing was read. Scan again.");
    await dock.phase("recording");
    await dock.scan("STATION_CANCEL");
    await dock.phase("idle");
  });

  it("try again what is in doubt", async () => {
    await startInDoubt("AGAIN");
    await dock.scan("STATION_AGAIN");
    await dock.phase("recording");
    await dock.scan("STATION_CANCEL");
    await dock.phase("idle");
  });

  it("cancel what is in doubt, and say so if they cannot confirm it", async () => {
    await startInDoubt("DOUBT");
    await dock.scan("STATION_CONFIRM");
    await dock.shows("notice", "“Confirm” is not possible now. Nothing was done: do what the screen says.");
    await dock.phase("check");
    await dock.scan("STATION_CANCEL");
    await dock.shows("notice", "DOUBT is cancelled");
    await dock.phase("idle");
  });

  it("say so if there is no parcel, also in another language", async () => {
    const { nodeRed, nodes } = run;
    for (const [code, button] of [
      ["STATION_CONFIRM", "Confirm"],
      ["STATION_AGAIN", "Measure again"],
      ["STATION_CANCEL", "Cancel"],
    ] as const) {
      await dock.scan(code);
      await dock.shows("notice", `“${button}” is not possible now`);
    }
    await dock.phase("idle");
    await nodeRed.deploy(changed(nodes, { LANGUAGE: "de", SIGN_IN: "false" }));
    await dock.scan("STATION_CANCEL");
    await dock.shows("notice", "„Abbrechen“ ist jetzt nicht möglich. Es ist nichts geschehen");
  });

  it("count once if the scanner sends them twice", async () => {
    const { nodeRed, nodes } = run;
    await nodeRed.deploy(changed(nodes, { IGNORE_REPEATS: "3600" }));
    await dock.scan("TWICE");
    await dock.phase("recording");
    await dock.scan("STATION_AGAIN");
    await dock.phase("measured");
    await dock.scan("STATION_CONFIRM");
    await dock.phase("idle");
    await dock.page.evaluate("window.tones.splice(0)");
    await dock.scan("STATION_CONFIRM");
    await dock.scan("NEXT");
    await dock.phase("recording");
    assert.deepEqual(await dock.page.evaluate("window.tones"), [], "nothing is said to be impossible");
    await dock.press("cancel");
    await dock.phase("idle");
  });
});
