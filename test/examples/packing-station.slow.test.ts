import assert from "node:assert/strict";
import type { Browser } from "playwright-core";
import { readPackages } from "../archive/support.ts";
import { sharedBrowser } from "../support/shared-browser.ts";
import { nodeRedMajor } from "../support/node-red.ts";
import { changed, evidenceLogin, packagesIn, startStation, type StationRun } from "./packing-station.ts";
import { severalParcels } from "./several-parcels.ts";
import { pictureIsDrawn, StationPage } from "./station-page.ts";

/** What a page has sounded so far: the kind and the pitch of each tone. */
const tones = (dock: StationPage) => dock.page.evaluate<string[]>("window.tones");

/** Whether the chart has bars in the colors of the parcels and of the failures. */
const hasBars = `(() => {
  const canvas = document.querySelector(".packing-shift canvas");
  if (canvas === null || canvas.isOld) { return false; }
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const found = { 0x1f7ad1: 0, 0xd62839: 0 };
  for (let at = 0; at < data.length; at += 4) {
    const color = data[at] * 0x10000 + data[at + 1] * 0x100 + data[at + 2];
    if (color in found) { found[color] += 1; }
  }
  return Object.values(found).every((pixels) => pixels > 200);
})()`;

/** Types a code while the page is not there, which Dashboard takes away and makes anew after a deploy. */
const typeBetween = `void (window.typedBetween = new Promise((resolve) => {
  new MutationObserver((_, observer) => {
    if (document.querySelector('[data-test="phase"]') !== null) { return; }
    observer.disconnect();
    for (const key of [..."TYPED-THROUGH", "Enter"]) {
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    }
    resolve();
  }).observe(document, { subtree: true, childList: true });
}))`;

/** Types a code as soon as the page has been made, which is before Node-RED has told it anything. */
const typeEarly = `(() => {
  const code = sessionStorage.getItem("typed early");
  sessionStorage.removeItem("typed early");
  if (code === null) { return; }
  new MutationObserver((_, observer) => {
    if (document.querySelector(".packing") === null) { return; }
    observer.disconnect();
    for (const key of [...code, "Enter"]) {
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    }
  }).observe(document, { subtree: true, childList: true });
})()`;

describe(`example 30, the packing station, in a browser on Node-RED ${nodeRedMajor}`, () => {
  let browser: Browser;
  let run: StationRun;
  let dock: StationPage;
  let operators = 0;

  before(async () => {
    [browser, run] = await Promise.all([sharedBrowser(), startStation()]);
    dock = await StationPage.open(browser, run.nodeRed, "dock-1");
  });
  // Somebody signs in who was not there before, which begins a shift.
  beforeEach(async () => {
    run.simulator.reset();
    operators += 1;
    await dock.scan(`OP-PACKER-${operators}`);
    await dock.shows("operator", `PACKER-${operators}`);
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

  it("says that several objects were measured together, and measures the parcel again", async () => {
    run.simulator.faults.add(severalParcels("newer"));
    await dock.pack("TWO-PARCELS");
    await dock.shows(
      "notice",
      /Error: Several objects were measured together.*only TWO-PARCELS.*“Measure again”/,
    );
    await dock.press("measure");
    await dock.shows("notice", /Measured: 33\.5 × 21 × 12\.5 cm/);
    await confirm();
  });

  it("takes a code that a scanner types while Dashboard makes the page anew after a deploy", async () => {
    do {
      await dock.page.evaluate(typeBetween);
      await run.nodeRed.deploy(run.nodes);
      await dock.page.evaluate("window.typedBetween");
    } while (!(await dock.confirms('[data-test="phase"][data-phase="recording"]')));
    await dock.shows("reference", "TYPED-THROUGH");
    await dock.press("cancel");
    await dock.phase("idle");
  });

  it("takes the whole code that a scanner types while the page is being opened, before it knows anything", async () => {
    await dock.page.addInitScript(typeEarly);
    await dock.page.evaluate('sessionStorage.setItem("typed early", "EARLY-1")');
    await dock.page.reload();
    await dock.phase("recording");
    await dock.shows("reference", "EARLY-1");
    await dock.press("cancel");
    await dock.phase("idle");
  });

  it("does nothing with another parcel's scan, and measures again or cancels where the packer says so", async () => {
    await dock.scan("ORDER-1");
    await dock.phase("recording");
    await dock.scan("ORDER-2");
    await dock.shows("notice", /Wrong parcel: you scanned ORDER-2, but ORDER-1 is still being packed/);
    assert.equal(run.simulator.requestsTo("newer", "/api/v1/video").length, 1);
    await dock.press("measure");
    await dock.phase("measured");
    await dock.press("measure");
    const entry = dock.page.locator('[data-test="entry"]', { hasText: "ORDER-1" });
    await entry.filter({ hasText: "measured 2 times" }).waitFor();
    await confirm();
    await dock.scan("ORDER-3");
    await dock.phase("recording");
    await dock.press("cancel");
    await dock.shows("notice", "ORDER-3 is cancelled");
    assert.equal(await dock.text("count"), "1");
    assert.equal(run.simulator.requestsTo("newer", "/api/v1/video/cancel").length, 1);
  });

  it("takes the second click of a double click for no other button, which is in the same place by then", async () => {
    await dock.scan("DOUBLE-CLICK");
    await dock.phase("recording");
    const { x, y, width, height } =
      (await dock.page.locator('[data-test="measure"]').boundingBox()) ?? assert.fail("no button");
    const [middle, line] = [x + width / 2, y + height / 2];
    await dock.page.mouse.click(middle, line);
    await dock.phase("measured");
    await dock.page.mouse.down({ clickCount: 2 });
    await dock.page.mouse.up({ clickCount: 2 });
    // A scan that is read after it finds the parcel unconfirmed.
    await dock.scan("STATION_AGAIN");
    await dock.page.locator('[data-test="entry"]', { hasText: "measured 2 times" }).first().waitFor();
    await dock.phase("measured");
    await confirm();
  });

  it("says what to do with a parcel that cannot be measured, sounds low three times, and counts the failure", async () => {
    run.simulator.newer.setParcel(null);
    await dock.scan("ORDER-4");
    await dock.phase("recording");
    const before = (await tones(dock)).length;
    await dock.scan("ORDER-4");
    await dock.shows("notice", /ORDER-4 could not be measured\. Put it in the middle/);
    // The device has ended the recording and keeps it for the next measurement.
    await dock.shows("phase", "Recorded");
    assert.deepEqual((await tones(dock)).slice(before), ["square 220", "square 220", "square 220"]);
    assert.equal(await dock.text("failures"), "1");
    await dock.page.locator(".packing.flash-error").waitFor();
    run.simulator.newer.setParcel("shoe-box");
    await dock.scan("ORDER-4");
    await dock.phase("measured");
    assert.deepEqual((await tones(dock)).slice(before + 3), ["sine 880"]);
    await confirm();
  });

  it("asks what the device has done when its answer is lost, and goes on by itself when the cloud reports it", async () => {
    const { simulator } = run;
    const lost = (acts: boolean) =>
      simulator.faults.add({ surface: "newer", path: "/api/v1/measure", fault: { kind: "close", acts } });
    const saved = (reference: string, holds: string) =>
      dock.page
        .locator('[data-test="entry"][data-evidence="saved"]', { hasText: reference })
        .filter({ hasText: holds })
        .waitFor();
    await dock.scan("NOT-MEASURED");
    await dock.phase("recording");
    lost(false);
    await dock.scan("NOT-MEASURED");
    await dock.phase("check");
    await dock.shows("notice", "It is not known whether NOT-MEASURED was measured");
    await dock.shows("do", "if the cloud reports the measurement, this goes on by itself");
    simulator.newer.setParcel(null);
    await dock.press("again");
    await dock.shows("notice", "NOT-MEASURED could not be measured");
    await dock.phase("recording");
    simulator.newer.setParcel("shoe-box");
    await dock.scan("NOT-MEASURED");
    await dock.phase("measured");
    await saved("NOT-MEASURED", "videos: 1");
    await confirm();
    lost(true);
    await dock.pack("REPORTED");
    await dock.shows(
      "notice",
      /REPORTED was measured: the cloud has reported it\. 33\.5 × 21 × 12\.5 cm, 1\.27 kg/,
    );
    await dock.shows("billable", /^✔ Billable weight: /);
    // Its pictures are only in the cloud.
    await saved("REPORTED", "videos: 1");
    await dock.page.waitForFunction(pictureIsDrawn);
    // The video belongs to the first measurement; nobody waits for a second one.
    await dock.press("measure");
    await dock.shows("entry", "measured 2 times");
    await saved("REPORTED", "videos: 0");
    await confirm();
  });

  it("lists the package of a first measurement of which the cloud tells only after the second one", async () => {
    const { nodeRed, nodes, simulator, archive } = run;
    const { wires = [] } = nodes.find(({ name }) => name === "A record") ?? assert.fail();
    const { z } = nodes.find(({ name }) => name === "Station") ?? assert.fail();
    const func = `const first = context.get("first");
      context.set("first", msg);
      return first === undefined ? null : [[msg, first]];`;
    const swapped = nodes.map((one) => {
      const wait = one.type === "dimensioner-archive" ? { wait: "1" } : {};
      return one.name === "A record" ? { ...one, wires: [["swap"]] } : { ...one, ...wait };
    });
    await nodeRed.deploy([...swapped, { id: "swap", z, type: "function", func, outputs: 1, wires }]);
    simulator.faults.add({ surface: "newer", path: "/api/v1/measure", fault: { kind: "close" } });
    await dock.scan("TWICE");
    await dock.phase("recording");
    await dock.scan("TWICE");
    await dock.phase("check");
    await dock.press("again");
    await dock.phase("measured");
    const links = dock.page.locator('[data-test="entry"]', { hasText: "TWICE" }).locator("a");
    // The first one has got the video; nobody knew that when the second one was made.
    await links.filter({ hasText: /^Measurement 1: Evidence saved \(.*videos: 1\)/ }).waitFor();
    await links.filter({ hasText: /^Measurement 2: .*incomplete \(.*videos: 0\)/ }).waitFor();
    const linked = await links.evaluateAll((all) =>
      all.map((one) => decodeURIComponent(one.getAttribute("href")?.split("#package=")[1] ?? "")),
    );
    const manifests = [...(await readPackages(archive)).values()].filter(
      ({ references }) => references.transactionReference === "TWICE",
    );
    assert.deepEqual(linked.toSorted(), manifests.map(({ job }) => job).toSorted());
    assert.deepEqual(
      linked.map((id) =>
        manifests.some(({ job, items }) => job === id && items.some(({ path }) => path.endsWith(".mp4"))),
      ),
      [true, false],
    );
    await confirm();
    await nodeRed.deploy(nodes);
  });

  it("says in a sentence what to do next after each outcome of each command, and never leaves the packer stuck", async () => {
    const { simulator } = run;
    const next = (
      path: string,
      fault: { kind: "close"; acts: boolean } | { kind: "status"; status: number },
    ) => simulator.faults.add({ surface: "newer", path: `/api/v1/video/${path}`, fault });
    const unknown = { kind: "close", acts: false } as const;
    const refused = { kind: "status", status: 409 } as const;
    next("start", refused);
    await dock.scan("OUTCOMES");
    await dock.shows(
      "notice",
      "OUTCOMES is not being recorded. Do what is written below, then scan it again",
    );
    await dock.phase("idle");
    next("start", unknown);
    await dock.scan("OUTCOMES");
    await dock.shows(
      "notice",
      "It is not known whether OUTCOMES is being recorded. Look at the device, then press",
    );
    await dock.phase("check");
    next("cancel", refused);
    await dock.press("cancel");
    await dock.shows("notice", "The recording of OUTCOMES was not discarded. Do what is written below");
    await dock.phase("check");
    await dock.press("again");
    await dock.phase("recording");
    next("cancel", refused);
    await dock.press("cancel");
    await dock.shows(
      "notice",
      "The recording of OUTCOMES was not discarded. Do what is written below, then cancel again",
    );
    await dock.phase("recording");
    next("cancel", unknown);
    await dock.press("cancel");
    await dock.shows(
      "notice",
      "It is not known whether the recording of OUTCOMES was discarded. Look at the device",
    );
    await dock.phase("check");
    await dock.press("again");
    await dock.shows("notice", "OUTCOMES is cancelled. It was not counted");
    await dock.phase("idle");
  });

  it("shows whether the cloud answers", async () => {
    const { simulator } = run;
    const cloud = (ok: boolean, text: string) =>
      dock.page.locator(`[data-test="cloud"][data-ok="${ok}"]`, { hasText: text }).waitFor();
    await cloud(true, "✔ Cloud: reachable");
    const rule = simulator.faults.add({ surface: "cloud", times: 0, fault: { kind: "reset" } });
    await cloud(false, "✖ Cloud: not reachable");
    simulator.faults.remove(rule);
    await cloud(true, "✔ Cloud: reachable");
  });

  it("shows of each station whether its own cloud answers", async () => {
    const { nodeRed, nodes, simulator, second } = run;
    const shared = nodes.find(({ type }) => type === "dimensioner-cloud") ?? assert.fail();
    const other = { ...shared, id: "other", name: "cloud", baseUrl: second.cloud.origin };
    const places = {
      "dock-1": { device: "Dock 1", cloud: "Dimensioner cloud" },
      "dock-2": { device: "Dock 2", cloud: "cloud" },
    };
    await nodeRed.deploy([...changed(nodes, { STATIONS: JSON.stringify(places) }), other]);
    const page = await StationPage.open(browser, nodeRed, "dock-2");
    const shown = (on: StationPage, ok: boolean) =>
      on.page.locator(`[data-test="cloud"][data-ok="${ok}"]`).waitFor();
    await shown(page, true);
    const rule = simulator.faults.add({ surface: "cloud", times: 0, fault: { kind: "reset" } });
    await shown(dock, false);
    // It is asked again after the other one has failed.
    await second.nextRequest(({ surface }) => surface === "cloud");
    await second.nextRequest(({ surface }) => surface === "cloud");
    await shown(page, true);
    simulator.faults.remove(rule);
    await shown(dock, true);
    await page.close();
    await nodeRed.deploy(nodes);
  });

  it("takes a scan while a list of the dashboard is open, and after another page of it was shown", async () => {
    const { nodeRed, nodes } = run;
    const { z } = nodes.find(({ name }) => name === "Station") ?? assert.fail();
    const group = nodes.find(({ type, name }) => type === "ui-group" && name === "Shift") ?? assert.fail();
    const page = nodes.find(({ type }) => type === "ui-page") ?? assert.fail();
    const options = [{ label: "Large carton", value: "large", type: "str" }];
    const list = {
      z,
      type: "ui-dropdown",
      label: "Carton",
      order: 2,
      width: "6",
      height: "1",
      options,
      wires: [[]],
    };
    await nodeRed.deploy([
      ...nodes,
      { ...page, id: "other-page", name: "Other", path: "/other", order: 9 },
      { ...group, id: "other-group", page: "other-page" },
      { ...list, id: "carton", group: group.id },
      { ...list, id: "other-carton", group: "other-group" },
    ]);
    // Dashboard forgets a change of the page that comes while it makes its pages anew.
    const show = async (path: string, state: "attached" | "detached"): Promise<void> => {
      const isShown = () =>
        dock.page
          .locator('[data-test="phase"]')
          .waitFor({ state, timeout: 5_000 })
          .then(
            () => true,
            () => false,
          );
      do {
        await dock.page.evaluate(
          `void document.querySelector("#app").__vue_app__.config.globalProperties.$router.push("/dashboard/${path}")`,
        );
      } while (!(await isShown()));
    };
    await dock.page.locator(".nrdb-ui-dropdown .v-field").click();
    await dock.page.getByText("Large carton").waitFor();
    await dock.scan("IN-LIST");
    await dock.phase("recording");
    await dock.shows("reference", "IN-LIST");
    await dock.page.keyboard.press("Escape");
    await dock.page.getByText("Large carton").waitFor({ state: "hidden" });
    await show("other", "detached");
    await dock.page.keyboard.type("NOT-A-SCAN");
    await show("packing", "attached");
    await dock.phase("recording");
    assert.equal(await dock.page.locator("#packing-scan").inputValue(), "");
    await dock.scan("IN-LIST");
    await dock.phase("measured");
    await confirm();
    await nodeRed.deploy(nodes);
    await dock.page.goto(`${nodeRed.url}/dashboard/packing?station=dock-1`);
    await dock.shows("phase");
  });

  it("archives after a deploy what was measured just before it, and nothing twice", async () => {
    const { nodeRed, nodes, simulator, archive } = run;
    const cut = nodes.map((one) => (one.name === "A billable weight" ? { ...one, wires: [[]] } : one));
    await nodeRed.deploy(cut);
    await dock.pack("CUT-OFF");
    await nodeRed.deploy(nodes);
    const saved = dock.page.locator('[data-test="entry"][data-evidence="saved"]', { hasText: "CUT-OFF" });
    await saved.waitFor();
    await dock.shows("billable", /^✔ Billable weight: /);
    await confirm();
    const packages = (await packagesIn(archive)).filter((name) => name.startsWith("CUT-OFF-"));
    assert.equal(packages.length, 1);
    assert.equal(simulator.newer.actions.measures, 1);
  });

  it("draws the parcels of the shift as a chart, and counts from zero for whoever signs in", async () => {
    run.simulator.newer.setParcel(null);
    await dock.scan("CHART-1");
    await dock.phase("recording");
    await dock.scan("CHART-1");
    await dock.shows("notice", "CHART-1 could not be measured");
    run.simulator.newer.setParcel("shoe-box");
    await dock.scan("CHART-1");
    await dock.phase("measured");
    await confirm();
    await dock.page.waitForFunction(hasBars);
    // Dashboard makes the chart anew after a deploy.
    await dock.page.evaluate('document.querySelector(".packing-shift canvas").isOld = true');
    await run.nodeRed.deploy(run.nodes);
    await dock.page.waitForFunction(hasBars);
    await dock.page.locator('.packing-shift [role=img][aria-label="Parcels per hour"]').waitFor();
    assert.equal(await dock.text("count"), "1");
    await dock.press("signOut");
    await dock.shows("notice", `PACKER-${operators} is signed out`);
    await dock.shows("operator", "Nobody is signed in");
    await dock.scan("CHART-2");
    await dock.shows("notice", "Nobody is signed in. Scan your badge first");
    assert.equal(run.simulator.requestsTo("newer", "/api/v1/video").length, 1);
    // The same badge signs in and out.
    for (const [text, notice] of [
      ["Operator: BEN", "Hello, BEN"],
      ["Nobody is signed in", "BEN is signed out"],
    ] as const) {
      await dock.scan("OP-BEN");
      await dock.shows("operator", text);
      await dock.shows("notice", notice);
    }
  });

  it("leads to the evidence page, where only those see a package who may, and shows no file of it itself", async () => {
    await dock.pack("LINKED");
    const saved = dock.page.locator('[data-test="entry"][data-evidence="saved"]', { hasText: "LINKED" });
    const [evidence] = await Promise.all([
      dock.page.context().waitForEvent("page"),
      saved.locator("a").click(),
    ]);
    await evidence.locator("#name:focus").waitFor();
    assert.doesNotMatch(await evidence.locator("body").innerText(), /LINKED|33\.5/);
    await evidence.fill("#name", evidenceLogin.name);
    await evidence.fill("#password", evidenceLogin.password);
    await evidence.keyboard.press("Enter");
    await evidence.getByRole("heading", { name: "LINKED" }).waitFor();
    await evidence.close();
    const { job, picture } = await dock.page.evaluate<{ job: string; picture: string }>(
      `(({ packages, picture }) => ({ job: packages[0].id, picture }))(window.packingStation.state.parcel)`,
    );
    assert.equal((await run.nodeRed.adminFetch(`/station/${picture}`)).status, 200);
    for (const wrong of [
      `evidence/${job}`,
      `evidence/${job}/0`,
      "picture/constructor",
      "picture/..%2f..%2fsettings.cjs",
    ]) {
      assert.equal((await run.nodeRed.adminFetch(`/station/${wrong}`)).status, 404, wrong);
    }
    await confirm();
  });

  it("shows a device as reachable again that was away between two of its checks", async () => {
    const { nodeRed, nodes, simulator } = run;
    const checkedEvery = (seconds: string) =>
      changed(nodes, { ANSWER_WITHIN: "15" }).map((node) =>
        node.type === "dimensioner-device" ? { ...node, checkInterval: seconds } : node,
      );
    // It is away, and then checked only once, when it is back: only a command finds it away after that.
    simulator.newer.setPower(false);
    await dock.page.locator('[data-test="device"][data-ok="false"]').waitFor();
    await nodeRed.deploy(checkedEvery("0"));
    simulator.newer.setPower(true);
    await nodeRed.deploy(checkedEvery("3600"));
    await dock.page.locator('[data-test="device"][data-ok="true"]').waitFor();
    simulator.newer.setPower(false);
    // It is shown as away for some seconds, which a slow test would miss.
    await dock.page.evaluate(`void (window.shownAway = new Promise((resolve) => {
      new MutationObserver((_, observer) => {
        if (document.querySelector('[data-test="device"][data-ok="false"]') === null) { return; }
        observer.disconnect();
        resolve();
      }).observe(document, { subtree: true, childList: true, attributes: true });
    }))`);
    await dock.scan("AWAY-1");
    await dock.shows("notice", "AWAY-1 is not being recorded");
    await dock.page.evaluate("window.shownAway");
    await dock.page.locator('[data-test="device"][data-ok="true"]').waitFor();
    simulator.newer.setPower(true);
    await nodeRed.deploy(nodes);
  });

  it("speaks German and Spanish, discards a forgotten recording, and counts a double scan once", async () => {
    const { nodeRed, nodes } = run;
    await nodeRed.deploy(changed(nodes, { LANGUAGE: "de", FORGOTTEN_AFTER: "1", IGNORE_REPEATS: "60" }));
    await dock.page.reload();
    await dock.shows("phase", "Bereit");
    await dock.scan("SPOKEN-1");
    await dock.scan("SPOKEN-1");
    await dock.shows("notice", /^✖ Fehler: Die Aufnahme von SPOKEN-1 wurde verworfen/);
    await dock.phase("idle");
    assert.equal(run.simulator.newer.actions.measures, 0);
    assert.equal(run.simulator.requestsTo("newer", "/api/v1/video/start").length, 1);
    assert.equal(run.simulator.requestsTo("newer", "/api/v1/video/cancel").length, 1);
    assert.equal(await dock.page.evaluate("document.documentElement.lang"), "de");
    await nodeRed.deploy(changed(nodes, { LANGUAGE: "es" }));
    await dock.page.reload();
    await dock.shows("phase", "Listo");
    run.simulator.newer.setParcel("shoe-box");
    await dock.pack("SPOKEN-2");
    await dock.shows("notice", /^✔ Bien: Medido: 33,5 × 21 × 12,5 cm, 1,27 kg/);
    await confirm();
    await nodeRed.deploy(nodes);
    await dock.page.reload();
    await dock.shows("phase", "Ready");
  });

  it("tries again to discard a forgotten recording, and says of a parcel that the packer cancels that it is cancelled", async () => {
    const { nodeRed, nodes, simulator } = run;
    const path = "/api/v1/video/cancel";
    await nodeRed.deploy(changed(nodes, { FORGOTTEN_AFTER: "1" }));
    simulator.faults.add({ surface: "newer", path, fault: { kind: "status", status: 401 } });
    const isKept = dock.isTold("The recording of FORGOTTEN was not discarded");
    await dock.scan("FORGOTTEN");
    await isKept;
    await dock.shows("notice", "The recording of FORGOTTEN was discarded");
    await dock.phase("idle");
    assert.equal(simulator.requestsTo("newer", path).length, 2);
    simulator.faults.add({ surface: "newer", path, fault: { kind: "reset" } });
    await dock.scan("CANCELLED");
    await dock.phase("check");
    await dock.press("again");
    await dock.shows("notice", "CANCELLED is cancelled. It was not counted");
    await dock.phase("idle");
    await nodeRed.deploy(nodes);
  });

  it("is at rest while nobody does anything: none of its statuses causes another one", async () => {
    const { nodeRed, nodes } = run;
    const { id: station, z } = nodes.find(({ name }) => name === "Station") ?? assert.fail();
    const count = `const seen = context.get("seen") ?? { ticks: 0, others: 0 };
      if (msg.topic === "tick") { seen.ticks += 1; } else if (seen.ticks > 0) { seen.others += 1; }
      context.set("seen", seen);
      if (msg.topic === "tick" && seen.ticks === 3) { node.warn("messages between ticks: " + seen.others); }`;
    const counted = nodeRed.nextLine(/messages between ticks: /);
    await nodeRed.deploy([
      ...nodes,
      { id: "handled", z, x: 100, y: 600, type: "complete", scope: [station], wires: [["count"]] },
      { id: "count", z, x: 300, y: 600, type: "function", func: count, outputs: 0, wires: [] },
    ]);
    const [messages] = /\d+$/.exec(await counted) ?? [];
    assert.ok(Number(messages) < 50, `${messages} messages`);
    await nodeRed.deploy(nodes);
  });

  it("asks which station it is when its address does not say so", async () => {
    const page = await StationPage.openPath(browser, run.nodeRed, "packing");
    await page.page.getByRole("link", { name: "dock-2" }).click();
    await page.shows("phase", "Ready");
    assert.deepEqual(page.problems, []);
    await page.close();
  });

  it("names the parcel that was being packed when Node-RED was killed, once it runs again", async () => {
    await dock.scan("KILLED-1");
    await dock.phase("recording");
    await run.restart();
    await dock.shows("notice", "Node-RED was restarted while KILLED-1 was being packed. Scan KILLED-1 again");
    await dock.phase("idle");
    // The browser reports what it could not reach meanwhile.
    dock.problems.splice(0);
  });
});
