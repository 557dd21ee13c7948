import assert from "node:assert/strict";
import axe from "axe-core";
import type { Browser } from "playwright-core";
import { sharedBrowser } from "../support/shared-browser.ts";
import { nodeRedMajor } from "../support/node-red.ts";
import "./installed.ts";
import { StationPage, startStation, type StationRun } from "./packing-station.ts";

/** What takes the focus from the scan field, at a busy table. */
const distractions = [
  `document.querySelector('[data-test="cancel"]')?.focus()`,
  `document.querySelector(".packing-shift canvas, .packing-shift")?.click()`,
  `document.activeElement.blur()`,
  `document.querySelector(".packing .link")?.focus()`,
  `document.getElementById("packing-scan").focus()`,
];

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

describe(`example 30, the packing station, in a browser on Node-RED ${nodeRedMajor}`, () => {
  let browser: Browser;
  let run: StationRun;
  let pages: StationPage[] = [];
  let operators = 0;

  before(async () => {
    [browser, run] = await Promise.all([sharedBrowser(), startStation({ major: nodeRedMajor })]);
  });
  afterEach(async () => {
    const problems = pages.flatMap((one) => one.problems);
    await Promise.all(pages.map((one) => one.close()));
    pages = [];
    run.simulator.reset();
    run.second.reset();
    assert.deepEqual(problems, []);
  });
  after(() => run?.close());

  /** Opens the page of a station and signs somebody in who was not there before, which begins a shift. */
  async function begin(station: string): Promise<StationPage> {
    operators += 1;
    const operator = `PACKER-${operators}`;
    const opened = await StationPage.open(browser, run.nodeRed, station);
    pages.push(opened);
    await opened.scan(`OP-${operator}`);
    await opened.shows("operator", operator);
    return opened;
  }

  /** From the first scan to the result. */
  async function pack(station: StationPage, code: string, distraction = ""): Promise<void> {
    await station.page.evaluate(distraction);
    await station.scan(code);
    await station.phase("recording");
    await station.page.evaluate(distraction);
    await station.scan(code);
    await station.phase("measured");
  }

  it("measures each of ten parcels once, at two stations at once, wherever the focus is", async () => {
    const docks = await Promise.all([begin("dock-1"), begin("dock-2")]);
    const delays = await Promise.all(
      docks.map(async (dock, index) => {
        await dock.watchDelays();
        for (const [number, distraction] of distractions.entries()) {
          // The next parcel's scan confirms the one before.
          await pack(dock, `PARCEL-${index + 1}-${number}`, distraction);
          await dock.shows("reference", `PARCEL-${index + 1}-${number}`);
        }
        await dock.press("confirm");
        await dock.phase("idle");
        return dock.delays();
      }),
    );
    for (const [index, sim] of [run.simulator, run.second].entries()) {
      const dock = docks[index] ?? assert.fail();
      assert.equal(sim.newer.actions.measures, distractions.length);
      assert.equal(sim.requestsTo("newer", "/api/v1/video/start").length, distractions.length);
      assert.equal(await dock.text("count"), String(distractions.length));
      assert.equal(await dock.text("failures"), "0");
      const seen = await dock.page.locator(".entry b").allInnerTexts();
      const expected = distractions.map((_, number) => `PARCEL-${index + 1}-${number}`).toReversed();
      assert.deepEqual(seen, expected, "no station shows the parcels of the other one");
      const saved = dock.page.locator('[data-test="entry"][data-evidence="saved"]');
      await saved.nth(distractions.length - 1).waitFor();
    }
    console.log(`      from Enter to “recording”: ${Math.round(median(delays.flat()))} ms at the median`);
  });

  it("shows dimensions, weight, billable weight and picture, and a limit by more than a colour", async () => {
    const dock = await begin("dock-1");
    await pack(dock, "SHOE-BOX");
    await dock.shows("billable", /^✔ Billable weight: .+ kg \(dimensional weight\)\. Within all limits/);
    assert.match((await dock.text("figures")).replace(/\s+/g, " "), /Length 33\.5 cm.*Weight 1\.27 kg/);
    await dock.page.locator('[data-test="picture"]').evaluate("(image) => image.decode()");
    run.simulator.newer.setParcel("tube-box");
    await pack(dock, "TUBE");
    await dock.shows("billable", /^▲ Billable weight: .+ Over a limit: long/);
    await dock.press("cancel");
    await dock.phase("idle");
    assert.equal(await dock.text("count"), "1");
  });

  it("says what to do when the device is unplugged, and goes on with the same parcel", async () => {
    const dock = await begin("dock-1");
    await dock.scan("ORDER-1");
    await dock.phase("recording");
    run.simulator.newer.setPower(false);
    await dock.scan("ORDER-1");
    await dock.shows(
      "notice",
      /ORDER-1 was not measured\. Correct what is written below, then scan it again/,
    );
    await dock.page.locator('[data-test="device"][data-ok="false"]').waitFor();
    await dock.phase("recording");
    run.simulator.newer.setPower(true);
    await dock.scan("ORDER-1");
    await dock.phase("measured");
    assert.equal(await dock.text("failures"), "1");
    assert.equal(run.simulator.newer.actions.measures, 1);
    await dock.press("confirm");
    await dock.phase("idle");
  });

  it("does nothing with another parcel's scan, and measures again or cancels where the packer says so", async () => {
    const dock = await begin("dock-1");
    await dock.scan("ORDER-1");
    await dock.phase("recording");
    await dock.scan("ORDER-2");
    await dock.shows("notice", /Wrong parcel: you scanned ORDER-2, but ORDER-1 is still being packed/);
    assert.equal(run.simulator.requestsTo("newer", "/api/v1/video").length, 1);
    await dock.press("measure");
    await dock.phase("measured");
    await dock.press("measure");
    await dock.shows("entry", "measured 2 times");
    await dock.press("confirm");
    await dock.phase("idle");
    await dock.scan("ORDER-3");
    await dock.phase("recording");
    await dock.press("cancel");
    await dock.shows("notice", "ORDER-3 is cancelled");
    assert.equal(await dock.text("count"), "1");
    assert.equal(run.simulator.requestsTo("newer", "/api/v1/video/cancel").length, 1);
    run.simulator.newer.setParcel(null);
    await dock.scan("ORDER-4");
    await dock.phase("recording");
    await dock.scan("ORDER-4");
    await dock.shows("notice", /ORDER-4 could not be measured\. Put it in the middle/);
    await dock.press("cancel");
    await dock.phase("idle");
  });

  it("shows the same parcel after a reload of the page during its recording", async () => {
    const dock = await begin("dock-1");
    await dock.scan("ORDER-1");
    await dock.phase("recording");
    await dock.page.reload();
    await dock.phase("recording");
    await dock.shows("reference", "ORDER-1");
    await dock.scan("ORDER-1");
    await dock.phase("measured");
    assert.deepEqual(
      [run.simulator.newer.actions.measures, run.simulator.requestsTo("newer", "/api/v1/video/start").length],
      [1, 1],
    );
    await dock.press("confirm");
    await dock.phase("idle");
  });

  it("loses no scan to a deploy, executes none twice, and asks where the device may have acted", async () => {
    const { nodeRed, simulator, nodes } = run;
    const dock = await begin("dock-1");
    await Promise.all([nodeRed.deploy(nodes), dock.scan("ORDER-1")]);
    // The deploy may come before the scan, or end the command that the scan has caused: then the station has to ask.
    const lamp = dock.page.locator('[data-phase="recording"], [data-phase="check"]');
    await lamp.waitFor();
    const asks = (await lamp.getAttribute("data-phase")) === "check";
    if (asks) {
      await dock.press("again");
    }
    await dock.phase("recording");
    assert.ok(simulator.requestsTo("newer", "/api/v1/video/start").length <= (asks ? 2 : 1));
    const held = { kind: "delay", ms: 600_000 } as const;
    const rule = simulator.faults.add({
      surface: "newer",
      path: "/api/v1/measure",
      times: 0,
      fault: held,
    });
    const request = simulator.nextRequest(({ path }) => path.startsWith("/api/v1/measure"));
    await dock.scan("ORDER-1");
    await request;
    await dock.phase("measuring");
    await nodeRed.deploy(nodes);
    await dock.phase("check");
    await dock.shows("notice", /It is not known whether ORDER-1 was measured\. Look at the device/);
    simulator.faults.remove(rule);
    await dock.press("again");
    await dock.phase("measured");
    await dock.press("confirm");
    await dock.phase("idle");
    assert.equal(await dock.text("count"), "1");
  });

  it("goes on while the cloud is late, and then links to the evidence, and to nothing else", async () => {
    const { nodeRed, simulator } = run;
    const path = "^/api/transactionmedia/[^/]+$";
    const none = { kind: "body", text: "[]", contentType: "application/json" } as const;
    const rule = simulator.faults.add({ surface: "cloud", path, times: 0, fault: none });
    const dock = await begin("dock-1");
    await pack(dock, "LATE-1");
    await pack(dock, "LATE-2");
    await dock.page.locator('[data-test="entry"][data-evidence="waiting"]', { hasText: "LATE-1" }).waitFor();
    simulator.faults.remove(rule);
    const saved = dock.page.locator('[data-test="entry"][data-evidence="saved"]', { hasText: "LATE-1" });
    const link = (await saved.locator("a").getAttribute("href")) ?? "";
    const page = await fetch(nodeRed.url + link);
    const html = await page.text();
    assert.match(html, /LATE-1.*ColorVideoMp4\.mp4/s);
    const [file = ""] = /(?<=href=")[^"]+(?=">[^<]+\.mp4)/.exec(html) ?? [];
    const content = await fetch(`${nodeRed.url}/station/evidence/${file}`);
    assert.match(content.headers.get("content-type") ?? "", /^video\/mp4/);
    assert.ok((await content.arrayBuffer()).byteLength > 1_000);
    for (const wrong of [
      "evidence/__proto__",
      `${link.slice(9)}/99`,
      `${link.slice(9)}/..%2fmanifest.json`,
    ]) {
      assert.equal((await fetch(`${nodeRed.url}/station/${wrong}`)).status, 404, wrong);
    }
    for (const wrong of ["constructor", "..%2f..%2fsettings.cjs"]) {
      assert.equal((await fetch(`${nodeRed.url}/station/picture/${wrong}`)).status, 404, wrong);
    }
    await dock.press("confirm");
    await dock.phase("idle");
  });

  for (const colorScheme of ["light", "dark"] as const) {
    it(`has nothing that axe-core calls a fault, in a phone's width, ${colorScheme}`, async () => {
      const viewport = { width: 390, height: 844 };
      const phone = await StationPage.open(browser, run.nodeRed, "dock-1", { colorScheme, viewport });
      pages.push(phone);
      await phone.shows("entry");
      await phone.page.evaluate(axe.source);
      const faults = await phone.page.evaluate(`axe.run(".packing-page").then(({ violations }) => violations
        .flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ": " + html.slice(0, 160))))`);
      assert.deepEqual(faults, []);
      assert.equal(await phone.page.evaluate("document.documentElement.scrollWidth"), viewport.width);
      const small = `[...document.querySelectorAll(".packing button, .packing a, .packing input")]
        .filter((one) => one.getBoundingClientRect().height < 48).map((one) => one.outerHTML)`;
      assert.deepEqual(await phone.page.evaluate(small), []);
    });
  }

  it("asks which station it is when its address does not say so", async () => {
    const page = await StationPage.openAnywhere(browser, run.nodeRed);
    pages.push(page);
    await page.page.getByRole("link", { name: "dock-2" }).click();
    await page.shows("phase", "Ready");
  });

  it("speaks German and Spanish, discards a forgotten recording, and counts a double scan once", async () => {
    const change = (settings: Readonly<Record<string, string>>) =>
      run.nodeRed.deploy(
        run.nodes.map((node) =>
          node.type === "tab"
            ? {
                ...node,
                env: (node["env"] as { name: string; value: string }[]).map((one) => ({
                  ...one,
                  value: settings[one.name] ?? one.value,
                })),
              }
            : node,
        ),
      );
    await change({ LANGUAGE: "de", FORGOTTEN_AFTER: "1", IGNORE_REPEATS: "60" });
    const german = await begin("dock-1");
    await german.scan("ORDER-1");
    await german.scan("ORDER-1");
    await german.shows("phase", "Aufnahme läuft");
    await german.shows("notice", /^Fehler: Die Aufnahme von ORDER-1 wurde beendet/);
    await german.phase("idle");
    assert.equal(run.simulator.newer.actions.measures, 0);
    assert.equal(run.simulator.requestsTo("newer", "/api/v1/video/cancel").length, 1);
    assert.equal(await german.page.evaluate("document.documentElement.lang"), "de");
    await change({ LANGUAGE: "es" });
    await german.page.reload();
    await german.shows("phase", "Listo");
  });
});
