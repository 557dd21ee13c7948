import assert from "node:assert/strict";
import type { Browser } from "playwright-core";
import { sharedBrowser } from "../support/shared-browser.ts";
import { nodeRedMajor } from "../support/node-red.ts";
import { Erp, withErp } from "./erp.ts";
import { packagesIn, startStation, type StationRun } from "./packing-station.ts";
import { median, meeting, Shift } from "./shift.ts";
import { StationPage } from "./station-page.ts";

const parcelsEach = 25;
const shownInHistory = 20;
const referencesOf = (dock: string): string[] =>
  Array.from({ length: parcelsEach }, (_, index) => `${dock}-${String(index + 1).padStart(2, "0")}`);
const noMedia = { kind: "body", text: "[]", contentType: "application/json" } as const;
const mediaOfTransaction = "^/api/transactionmedia/[^/]+$";

describe(`a shift of ${2 * parcelsEach} parcels at two packing stations, on Node-RED ${nodeRedMajor}`, function () {
  // On a busy computer, fifty parcels one after the other take minutes.
  this.timeout(600_000);
  let browser: Browser;
  let run: StationRun;
  const shifts: Shift[] = [];
  const pages: StationPage[] = [];
  const erp = new Erp();
  const references = { "dock-1": referencesOf("AA"), "dock-2": referencesOf("BB") };

  before(async () => {
    [browser, run] = await Promise.all([sharedBrowser(), startStation()]);
    const nodes = withErp(run.nodes, await erp.open());
    run = { ...run, nodes };
    await run.nodeRed.deploy(nodes);
    for (const [index, simulator] of [run.simulator, run.second].entries()) {
      const shift = new Shift(simulator);
      shifts.push(shift);
      pages.push(
        await StationPage.open(browser, run.nodeRed, `dock-${index + 1}`, (shown) => shift.look(shown)),
      );
    }
  });
  after(async () => {
    await Promise.all(pages.map((page) => page.close()));
    await run?.close();
    await erp.close();
  });

  it("measures, records and counts each parcel once, whatever happens, and the screens are never wrong", async () => {
    const { simulator, nodeRed, nodes } = run;
    const [first = assert.fail(), second = assert.fail()] = pages;
    const [one = assert.fail(), two = assert.fail()] = shifts;
    const together = meeting(2);
    const deployed = meeting(2);
    const rules: string[] = [];
    const unplugged = async (reference: string) => {
      await first.scan(reference);
      await first.phase("recording");
      simulator.newer.setPower(false);
      await first.page.locator('[data-test="device"][data-ok="false"]').waitFor();
      await first.shows("do", "Check whether it is still recording");
      await first.scan(reference);
      await first.shows("notice", `${reference} was not measured`);
      simulator.newer.setPower(true);
      await first.page.locator('[data-test="device"][data-ok="true"]').waitFor();
      await first.press("cancel");
      await first.shows("notice", `${reference} is cancelled`);
      await first.pack(reference);
    };
    const cloudIsLate = async (reference: string) => {
      await first.page.locator('[data-test="entry"][data-evidence="saved"]').nth(4).waitFor();
      const fault = { surface: "cloud", path: mediaOfTransaction, times: 0, fault: noMedia } as const;
      rules.push(simulator.faults.add(fault));
      await first.pack(reference);
    };
    const cloudIsBack = async (reference: string) => {
      const late = first.page.locator('[data-evidence="waiting"]');
      await late.nth(3).waitFor();
      rules.splice(0).forEach((rule) => simulator.faults.remove(rule));
      await first.pack(reference);
    };
    const measuringInDeploy = async (reference: string) => {
      await first.scan(reference);
      await first.phase("recording");
      // The device measures, and nobody hears its answer.
      const fault = { surface: "newer", path: "/api/v1/measure", fault: { kind: "silence" } } as const;
      simulator.faults.add(fault);
      const measured = simulator.nextEvent(({ type }) => type === "transaction");
      await first.scan(reference);
      await measured;
      await first.phase("measuring");
      await together();
      one.asked.add(reference);
      await nodeRed.deploy(nodes);
      await first.phase("measured");
      await first.shows("notice", `${reference} was measured: the cloud has reported it`);
      await deployed();
    };
    const scanInDeploy = async (reference: string) => {
      await second.scan(reference);
      await second.phase("recording");
      await together();
      // The deploy may come before the scan, or end the command that the scan has caused: then the station asks, or says
      // that it was not sent.
      two.asked.add(reference);
      await second.scan(reference);
      const lamp = '[data-test="phase"]:is([data-phase="measured"], [data-phase="check"])';
      const notSent = `[data-test="notice"]:has-text("${reference} was not measured")`;
      while (!(await second.confirms(`${lamp}, ${notSent}`))) {
        // Pressed, because another scan of a parcel that was measured after all would confirm it.
        await second.press("measure");
      }
      if (await second.page.locator(notSent).isVisible()) {
        await second.scan(reference);
      } else if ((await second.phase("measured", "check")) === "check") {
        await second.press("again");
      }
      await second.phase("measured");
      await deployed();
    };
    const reloaded = async (reference: string) => {
      await second.scan(reference);
      await second.phase("recording");
      await second.page.reload();
      await second.phase("recording");
      await second.shows("reference", reference);
      await second.scan(reference);
      await second.phase("measured");
    };
    await Promise.all(pages.map((page) => page.scan("OP-ANNA")));
    await Promise.all(pages.map((page) => page.shows("operator", "ANNA")));
    await Promise.all([
      one.pack(first, references["dock-1"], {
        3: unplugged,
        6: cloudIsLate,
        10: cloudIsBack,
        11: measuringInDeploy,
      }),
      two.pack(second, references["dock-2"], { 5: reloaded, 11: scanInDeploy }),
    ]);
    assert.deepEqual(
      shifts.flatMap(({ wrong }) => wrong),
      [],
    );
  });

  it("has told the ERP of each parcel once, and shows the last ones of its own station with their evidence", async () => {
    const [again = ""] = references["dock-1"].slice(3);
    const expected = Object.values(references).flatMap((all) => all.map((one) => `confirmed ${one}`));
    await erp.untilTold(expected.length + 1);
    assert.deepEqual(erp.told.toSorted(), [...expected, `cancelled ${again}`].toSorted());
    for (const [index, all] of Object.values(references).entries()) {
      const page = pages[index] ?? assert.fail();
      // Dock 2 is in no cloud, so nobody has its videos.
      const evidence = index === 0 ? "saved" : "incomplete";
      const saved = page.page.locator(`[data-test="entry"][data-evidence="${evidence}"]`);
      for (const reference of all.slice(-shownInHistory)) {
        await saved.filter({ hasText: reference }).waitFor();
      }
      const seen = await page.page.locator(".entry b").allInnerTexts();
      assert.deepEqual(seen, all.toReversed().slice(0, shownInHistory));
      const pictures = await page.page.evaluate(
        `Promise.all([...document.querySelectorAll(".entry img")].map(async ({ src }) => (await fetch(src)).status))`,
      );
      assert.deepEqual(pictures, Array(shownInHistory).fill(200));
      assert.deepEqual([...page.heardOf], [`dock-${index + 1}`]);
    }
  });

  it("has measured each parcel once, except where the packer was asked, and archived each measurement", async () => {
    const packages = await packagesIn(run.archive);
    for (const [index, all] of Object.values(references).entries()) {
      const shift = shifts[index] ?? assert.fail();
      for (const reference of all) {
        const measures = shift.measuresOf(reference);
        // Dock 2 is in no cloud: there the packer may have measured again what the deploy has cut off.
        const isAgain = index === 1 && shift.asked.has(reference);
        assert.ok(measures === 1 || (measures === 2 && isAgain), `${reference}: ${measures}`);
        const archived = packages.filter((name) => name.startsWith(`${reference}-`)).length;
        assert.ok(archived >= 1 && archived <= measures, `${reference}: ${archived} packages`);
      }
    }
  });

  it("has nothing that axe-core calls a fault on a phone, a tablet and a large screen, and is quick", async () => {
    const [page = assert.fail()] = pages;
    assert.deepEqual(await page.faults({ width: 390, height: 844 }, "dark"), []);
    assert.deepEqual(await page.faults({ width: 768, height: 1024 }, "light"), []);
    assert.deepEqual(
      await page.faults({ width: 1920, height: 1080 }, nodeRedMajor === 4 ? "dark" : "light"),
      [],
    );
    assert.deepEqual(
      pages.flatMap(({ problems }) => problems),
      [],
    );
    const delay = median(shifts.flatMap(({ delays }) => delays));
    console.log(`      from Enter to “recording”: ${Math.round(delay)} ms at the median`);
  });
});
