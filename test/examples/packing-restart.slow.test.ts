import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { until } from "../archive/support.ts";
import { nodeRedMajor } from "../support/node-red.ts";
import { sharedBrowser } from "../support/shared-browser.ts";
import { filesIn, readJson } from "./archive.ts";
import { startStation, type StationRun } from "./packing-station.ts";
import { StationPage } from "./station-page.ts";

describe(`the packing station with context on disk, on Node-RED ${nodeRedMajor}`, () => {
  let browser: Browser;
  let run: StationRun;

  before(async () => {
    [browser, run] = await Promise.all([sharedBrowser(), startStation({ keepsContext: true })]);
  });
  after(async () => run?.close());

  /** Whether the disk has a station that records. */
  async function isKept(): Promise<boolean> {
    const names = await readdir(run.contexts, { recursive: true }).catch(() => []);
    const files = names.filter((name) => name.endsWith("flow.json"));
    const texts = await Promise.all(files.map((name) => readFile(join(run.contexts, name), "utf8")));
    return texts.some((text) => /"phase":\s*"recording"/.test(text));
  }

  it("archives a parcel with its video, also where Node-RED was killed while it was filmed", async () => {
    const dock = await StationPage.open(browser, run.nodeRed, "dock-1");
    await dock.scan("OP-PACKER-1");
    await dock.shows("operator", "PACKER-1");
    await dock.scan("ORDER-1");
    await dock.phase("recording");
    await until(isKept, "Node-RED has written the context");
    await run.restart();
    await dock.page.reload();
    await dock.phase("recording");
    await dock.scan("ORDER-1");
    await dock.phase("measured");
    await dock.page.locator('[data-test="entry"][data-evidence="saved"]', { hasText: "ORDER-1" }).waitFor();
    const files = await filesIn(run.archive);
    const manifests = files.filter((name) => name.endsWith("/manifest.json"));
    assert.equal(manifests.length, 1);
    const { recording } = await readJson(join(run.archive, manifests[0] ?? ""));
    assert.match(
      JSON.stringify(recording),
      /"transactionReference":"ORDER-1",.*"recording":"unknown"/,
      "it is known to have been filmed, so that the archive waits for the video however late it is",
    );
    assert.ok(files.some((name) => name.endsWith(".mp4")));
    await dock.close();
  });
});
