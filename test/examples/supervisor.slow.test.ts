import assert from "node:assert/strict";
import { rename } from "node:fs/promises";
import type { Browser } from "playwright-core";
import { sharedBrowser } from "../support/shared-browser.ts";
import { nodeRedMajor } from "../support/node-red.ts";
import { Listener } from "./listener.ts";
import { until } from "../archive/support.ts";
import { changed, startStation, type StationRun } from "./packing-station.ts";
import { StationPage } from "./station-page.ts";

/** What the page says in other languages, of that for which Dashboard has a widget. */
const spoken = {
  de: {
    columns: ["Zeit", "Packplatz", "Bediener", "Paket", "Maße und Gewicht", "Zustand", "Nachweis"],
    search: "Suchen",
    footer: "Pakete pro Seite:",
    reachable: "Gerät Dock 2: erreichbar",
    titles: ["Pakete nach Stunde und Packplatz", "Offene Archivaufträge der letzten 12 Stunden"],
  },
  es: {
    columns: ["Hora", "Puesto", "Operario", "Bulto", "Dimensiones y peso", "Estado", "Evidencia"],
    search: "Buscar",
    footer: "Bultos por página:",
    reachable: "Dispositivo Dock 2: accesible",
    titles: ["Bultos por hora y puesto", "Tareas de archivado en curso en las últimas 12 horas"],
  },
};

/** Whether somebody would have to scroll to see all of the table. */
const tableIsWide = `(() => {
  const { scrollWidth, clientWidth } = document.querySelector(".supervisor-parcels .v-table__wrapper");
  return scrollWidth > clientWidth;
})()`;

/** Runs in the page: keeps the texts that are drawn on a canvas, which only a chart knows. */
const rememberDrawnTexts = `(() => {
  window.drawnTexts = new Set();
  const { fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillText = function (text, ...where) {
    window.drawnTexts.add(text);
    fillText.call(this, text, ...where);
  };
})()`;

const noMedia = { kind: "body", text: "[]", contentType: "application/json" } as const;

describe(`example 31, the supervisor, in a browser on Node-RED ${nodeRedMajor}`, () => {
  let browser: Browser;
  let run: StationRun;
  let page: StationPage;

  before(async () => {
    [browser, run] = await Promise.all([
      sharedBrowser(),
      startStation({
        more: ["31"],
        settings: { FREE_SPACE: "0", SILENT_AFTER: "3600", STOPPED_AFTER: "3600" },
      }),
    ]);
    // The page follows at once.
    const nodes = run.nodes.map((one) => (one.type === "inject" ? { ...one, repeat: "1" } : one));
    run = { ...run, nodes };
    await run.nodeRed.deploy(nodes);
    page = await StationPage.openPath(browser, run.nodeRed, "supervisor");
    await page.shows("dock");
  });
  afterEach(() => assert.deepEqual(page.problems.splice(0), []));
  after(async () => {
    await page?.close();
    await run?.close();
  });

  const dock = (name: string, phase: string) =>
    page.page.locator(`[data-test="dock"][data-dock="${name}"][data-phase="${phase}"]`);
  const alarm = (text: string) => page.page.locator('[data-test="alarm"]', { hasText: text });
  /** Waits until there is no alarm; if there is one for long, the error says which. */
  const isCalm = async (): Promise<void> => {
    try {
      await page.shows("calm");
    } catch (error) {
      const alarms = await page.page.locator('[data-test="alarm"]').allInnerTexts();
      throw new Error(`There are alarms: ${alarms.join("; ")}`, { cause: error });
    }
  };

  it("shows what every dock does, its last parcel and its count, the table of parcels and the chart", async () => {
    await dock("dock-1", "idle").filter({ hasText: "Dock 1 Ready" }).waitFor();
    await dock("dock-2", "idle").filter({ hasText: "Dock 2 Ready" }).waitFor();
    await isCalm();
    const station = await StationPage.open(browser, run.nodeRed, "dock-1");
    await station.scan("OP-ANNA");
    await station.shows("operator", "ANNA");
    await station.scan("ORDER-1");
    await dock("dock-1", "recording").filter({ hasText: "ORDER-1, ANNA" }).waitFor();
    await station.phase("recording");
    await station.scan("ORDER-1");
    await dock("dock-1", "measured").waitFor();
    await station.phase("measured");
    await station.press("confirm");
    await dock("dock-1", "idle")
      .filter({ hasText: "Last parcel: ORDER-1" })
      .filter({ hasText: "Parcels: 1" })
      .waitFor();
    const row = page.page.locator("tbody tr", { hasText: "ORDER-1" });
    await row.filter({ hasText: "confirmed" }).filter({ hasText: "saved" }).waitFor();
    assert.match(
      (await row.innerText()).replace(/\s+/g, " "),
      /Dock 1 ANNA ORDER-1 33\.5 .* confirmed saved/,
    );
    await page.page.locator("canvas").nth(1).waitFor();
    assert.equal(await page.page.locator("canvas").count(), 2);
    await station.close();
  });

  it("keeps an alarm until its cause is over and somebody has acknowledged it by name", async () => {
    const { newer } = run.second;
    newer.setPower(false);
    await alarm("Dock 2: ").waitFor();
    await alarm("Dock 2: ").getByRole("button").click();
    await page.shows("name-missing");
    await page.page.locator('[data-test="name"]').fill("Eva");
    await alarm("Dock 2: ").getByRole("button").click();
    await alarm("acknowledged by Eva").waitFor();
    newer.setPower(true);
    await isCalm();
    await page.shows("log", "(1)");
    newer.setPower(false);
    await alarm("Dock 2: ").waitFor();
    newer.setPower(true);
    // It is over, and nobody has seen it.
    await alarm("over at").waitFor();
    await alarm("over at").getByRole("button").click();
    await isCalm();
    await page.shows("log", "(2)");
  });

  it("shows how far the clocks of the devices and of the cloud are from this computer's, and says if that is too far", async () => {
    await page.page
      .locator('[data-test="dock"]', { hasText: "Clock of the device: agrees" })
      .nth(1)
      .waitFor();
    await page.page.locator('[data-test="clock"]', { hasText: "agrees" }).waitFor();
    const ahead = { kind: "headers", set: { Date: new Date(Date.now() + 2_420_000).toUTCString() } } as const;
    run.second.faults.add({ surface: "newer", times: 0, fault: ahead });
    await alarm("Dock 2, compared with this computer's: 40 min ahead").waitFor();
    await dock("dock-2", "idle").filter({ hasText: "Clock of the device: 40 min ahead" }).waitFor();
    run.simulator.faults.add({ surface: "cloud", times: 0, fault: ahead });
    await alarm("The clock of the cloud, compared with this computer's: 40 min ahead").waitFor();
    run.second.faults.clear();
    run.simulator.faults.clear();
    await page.page.locator('[data-test="name"]').fill("Eva");
    for (const name of ["clock of Dock 2", "clock of the cloud"]) {
      await alarm(name).filter({ hasText: "over at" }).getByRole("button").click();
      await alarm(name).waitFor({ state: "detached" });
    }
    await isCalm();
  });

  it("raises no alarm of what a page says about the store and the cloud", async () => {
    const { nodes, second } = run;
    const { id } =
      nodes.find(({ type, name }) => type === "ui-template" && name === "Overview") ?? assert.fail();
    const full = { openJobs: 9, oldestJobFor: 99_999, freeBytes: -1, unhandledRecords: 9 };
    await page.emit(id, { topic: "store", payload: full });
    await page.emit(id, { topic: "fleet", payload: [{ id: "x", name: "Invented", silentFor: null }] });
    second.newer.setPower(false);
    await alarm("Dock 2: ").waitFor();
    assert.equal(await page.page.locator('[data-test="alarm"]').count(), 1);
    second.newer.setPower(true);
    await page.page.locator('[data-test="name"]').fill("Eva");
    await alarm("over at").getByRole("button").click();
    await isCalm();
  });

  it("raises no alarm of a question that a deploy has ended", async () => {
    const { simulator, nodeRed, nodes } = run;
    const path = "/api/deviceclients";
    const asked = (): number => simulator.requestsTo("cloud", path).length;
    const before = asked();
    const held = simulator.faults.add({
      surface: "cloud",
      path,
      times: 0,
      fault: { kind: "delay", ms: 600_000 },
    });
    await until(() => asked() > before, "the cloud is asked for its devices");
    await nodeRed.deploy(nodes);
    simulator.faults.remove(held);
    // What the deploy has ended is reported when the flow runs again, and an alarm stays.
    const after = asked();
    await until(() => asked() > after + 1, "it is asked again");
    await isCalm();
  });

  it("sends an alarm again that returns before anybody has acknowledged it", async () => {
    const { newer } = run.second;
    const heard = new Listener();
    await heard.open(run.nodeRed.url, run.nodes);
    for (const isAcknowledged of [false, true]) {
      newer.setPower(false);
      assert.match(await heard.next(), /^Alarm: Dock 2: /);
      newer.setPower(true);
      await alarm("over at").waitFor();
      if (isAcknowledged) {
        await page.page.locator('[data-test="name"]').fill("Eva");
        await alarm("over at").getByRole("button").click();
      }
    }
    await isCalm();
    assert.ok(heard.isQuiet);
    heard.close();
  });

  it("shows open archive jobs and the age of the oldest one, and raises an alarm when it is too old", async () => {
    const { simulator, nodeRed, nodes } = run;
    await page.shows("jobs", /Open archive jobs\s*0/);
    await page.shows("oldest", "none");
    await page.shows("space", /Free space\s*\d+ GB/);
    await page.shows("unverified", /Never verified\s*\d+/);
    await page.shows("verified", /Oldest verification\s*never/);
    const path = "^/api/transactionmedia/[^/]+$";
    const rule = simulator.faults.add({ surface: "cloud", path, times: 0, fault: noMedia });
    const station = await StationPage.open(browser, nodeRed, "dock-1");
    await station.scan("OP-BEN");
    await station.pack("LATE");
    await page.shows("jobs", /Open archive jobs\s*1/);
    await page.shows("oldest", /\d+ min/);
    await nodeRed.deploy(changed(nodes, { OLDEST_JOB: "0" }));
    await alarm("1 archive jobs are open, the oldest one for").waitFor();
    simulator.faults.remove(rule);
    await station.close();
  });

  it("raises alarms for a full disk, a store without its folder, and a device that is silent", async () => {
    const { nodeRed, nodes, archive } = run;
    await nodeRed.deploy(changed(nodes, { FREE_SPACE: "1000000", SILENT_AFTER: "0" }));
    await alarm("GB are free for evidence").waitFor();
    await alarm("has sent the cloud no heartbeat for 0 minutes").waitFor();
    await page.shows("silent", /Silent devices\s*1/);
    await rename(archive, `${archive}-gone`);
    await alarm("The store cannot be used").waitFor();
    await page.shows("space", "not known");
    await rename(`${archive}-gone`, archive);
    await alarm("The store cannot be used").filter({ hasText: "over at" }).waitFor();
  });

  it("has nothing that axe-core calls a fault on a phone, a tablet and a large screen", async () => {
    assert.deepEqual(await page.faults({ width: 390, height: 844 }, "dark"), []);
    assert.deepEqual(await page.faults({ width: 768, height: 1024 }, "light"), []);
    // On a tablet, each row is a list, so that no column is out of sight.
    await page.page.locator(".nrdb-table--mobile tr", { hasText: "ORDER-1" }).waitFor();
    assert.equal(await page.page.evaluate(tableIsWide), false);
    assert.deepEqual(await page.faults({ width: 1920, height: 1080 }, "dark"), []);
  });

  it("speaks German and Spanish, also in its table and its charts", async () => {
    const { nodeRed, nodes } = run;
    await page.page.evaluate(rememberDrawnTexts);
    for (const [language, { columns, search, footer, titles, reachable }] of Object.entries(spoken)) {
      await nodeRed.deploy(changed(nodes, { LANGUAGE: language }));
      await page.page.locator("thead", { hasText: columns.join("") }).waitFor();
      await dock("dock-2", "idle").filter({ hasText: reachable }).waitFor();
      await page.page.locator("tbody tr", { hasText: "ORDER-1" }).waitFor();
      await page.page.getByLabel(search).first().waitFor();
      await page.page.locator(".v-data-table-footer", { hasText: footer }).waitFor();
      const shown = async (): Promise<readonly string[]> =>
        await page.page.evaluate<string[]>(
          `[...window.drawnTexts].filter((text) => document.querySelector('[aria-label="' + text + '"]'))`,
        );
      const isShown = async (): Promise<boolean> => {
        const all = await shown();
        return titles.every((title) => all.includes(title));
      };
      await until(isShown, `both charts are named in ${language}`).catch(async (error: unknown) => {
        throw new Error(`Drawn and named: ${(await shown()).join("; ")}`, { cause: error });
      });
    }
  });

  it("takes the docks of a deleted flow off the page when somebody has acknowledged that it is not running", async () => {
    const { nodeRed, nodes } = run;
    const { id } = nodes.find(({ label }) => label === "30 Packing station") ?? assert.fail();
    const watching = changed(nodes, { STOPPED_AFTER: "2" });
    await nodeRed.deploy(watching.filter((one) => one.id !== id && one["z"] !== id));
    await dock("dock-1", "stopped").waitFor();
    await page.page.locator('[data-test="name"]').fill("Eva");
    await alarm("30 Packing station").getByRole("button").click();
    await dock("dock-1", "stopped").waitFor({ state: "detached" });
    await alarm("30 Packing station").waitFor({ state: "detached" });
    const ended = page.page.locator('[data-test="log"] li', { hasText: "30 Packing station" });
    await ended.waitFor({ state: "attached" });
    await nodeRed.deploy(watching);
    await dock("dock-1", "idle").waitFor();
  });

  it("speaks German, and says when the flow of the stations is not running", async () => {
    const { nodeRed, nodes } = run;
    const german = changed(nodes, { LANGUAGE: "de", STOPPED_AFTER: "2" });
    const off = german.map((one) => (one.label === "30 Packing station" ? { ...one, disabled: true } : one));
    await nodeRed.deploy(off);
    await alarm("Der Flow „30 Packing station“ läuft nicht").waitFor();
    await dock("dock-1", "stopped").filter({ hasText: "Läuft nicht" }).waitFor();
  });
});
