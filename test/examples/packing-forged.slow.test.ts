import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { nodeRedMajor } from "../support/node-red.ts";
import { sharedBrowser } from "../support/shared-browser.ts";
import { filesIn } from "./archive.ts";
import { startStation, type StationRun } from "./packing-station.ts";
import { StationPage } from "./station-page.ts";

/** A measurement that no device has made. */
const invented = {
  ok: true,
  summary: "9 × 9 × 9 cm, 9 kg",
  length: 9,
  width: 9,
  height: 9,
  dimsUnitOfMeasure: "cm",
  weight: 9,
  weightUnitOfMeasure: "kg",
  legalForTrade: true,
};

describe(`the packing station, to which a browser sends forged messages, on Node-RED ${nodeRedMajor}`, () => {
  let browser: Browser;
  let run: StationRun;
  let dock: StationPage;
  const idOf = (name: string) => run.nodes.find((one) => one.name === name)?.id ?? assert.fail(name);

  before(async () => {
    [browser, run] = await Promise.all([sharedBrowser(), startStation({ settings: { SIGN_IN: "false" } })]);
    dock = await StationPage.open(browser, run.nodeRed, "dock-1");
  });
  after(async () => {
    await dock?.close();
    await run?.close();
  });

  /** The parcel of the page, and the package of its first measurement, as the page has them. */
  const shown = () =>
    dock.page.evaluate<{ parcel: string; job: string }>(
      `(({ id, packages }) => ({ parcel: id, job: packages[0]?.id ?? "" }))(window.packingStation.state.parcel)`,
    );

  it("leads to the package that was archived, and shows no file, whatever a page says that was archived", async () => {
    await dock.pack("FORGED-EVIDENCE");
    const entry = dock.page.locator('[data-test="entry"][data-evidence="saved"]');
    const link = entry.filter({ hasText: "FORGED-EVIDENCE" }).locator("a");
    const archived = await link.getAttribute("href");
    const { parcel, job } = await shown();
    const settings = join(run.nodeRed.userDir, "settings.cjs");
    const files = [
      { path: settings, contentType: "image/jpeg", description: "annotated", bytes: 1, sha256: "" },
    ];
    const payload = { packageId: "x", link: "https://evil.example/", location: "x", complete: true, files };
    // Dashboard lets a browser send a message from any node, not only from its own.
    for (const sender of ["The packer's screen", "Evidence is saved"]) {
      await dock.emit(idOf(sender), { topic: "archived", station: "dock-1", parcel, job, payload });
    }
    for (const sender of ["The packer's screen", "To the pictures", "Your system says", "The archive says"]) {
      const said = {
        payload: { note: "Invented", stop: "Invented" },
        filename: settings,
        contentType: "image/jpeg",
      };
      await dock.emit(idOf(sender), { topic: "said", station: "dock-1", parcel, job, ...said });
    }
    await dock.press("confirm");
    await dock.phase("idle");
    assert.match(archived ?? "", /^\/evidence\/#package=/);
    assert.equal(await link.getAttribute("href"), archived);
    const { picture, note } = await dock.page.evaluate<{ picture: string; note: string }>(
      "window.packingStation.state.history[0]",
    );
    const content = Buffer.from(await (await run.nodeRed.adminFetch(`/station/${picture}`)).arrayBuffer());
    assert.notDeepEqual(content, await readFile(settings));
    assert.equal(note, "");
  });

  it("tells neither a page nor the evidence by what Station recognizes its own messages", async () => {
    const { id } = run.nodes.find(({ label }) => label === "30 Packing station") ?? assert.fail();
    const kept = await (await run.nodeRed.adminFetch(`/context/flow/${id}/proof`)).text();
    const proof = /[\da-f-]{36}/.exec(kept)?.[0] ?? assert.fail(kept);
    const manifests = (await filesIn(run.archive)).filter((name) => name.endsWith("manifest.json"));
    assert.equal(manifests.length, 1);
    const shownTo = await dock.page.evaluate<string>("JSON.stringify(window.packingStation.state)");
    for (const text of [shownTo, await readFile(join(run.archive, manifests[0] ?? ""), "utf8")]) {
      assert.match(text, /FORGED-EVIDENCE/);
      assert.ok(!text.includes(proof));
    }
  });

  it("shows no measurement that no device has made", async () => {
    await dock.scan("FORGED-MEASUREMENT");
    await dock.phase("recording");
    const { parcel } = await shown();
    const measure = { topic: "measure", station: "dock-1", parcel, job: "invented", sentAt: 1 };
    for (const sender of ["The packer's screen", "Measure the parcel"]) {
      await dock.emit(idOf(sender), { ...measure, payload: invented });
    }
    await dock.scan("OTHER");
    await dock.shows("notice", "Wrong parcel");
    assert.equal(await dock.phase("recording", "measured"), "recording");
    await dock.press("cancel");
    await dock.phase("idle");
    assert.equal(run.simulator.newer.actions.measures, 1);
  });
});
