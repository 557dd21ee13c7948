import assert from "node:assert/strict";
import { basename } from "node:path";
import type { Page } from "playwright-core";
import { startSimulator } from "../../src/simulator/index.ts";
import { exampleNames, readExample } from "../support/examples.ts";
import { isFlow } from "../docs/flow-blocks.ts";
import { blocksIn, readPages } from "../docs/pages.ts";
import { openEditors, type Editors } from "./open-editors.ts";
import { closeDialog, dragFromPalette, fill, openDialog, opened } from "./dialog.ts";
import { importAsTheDialogDoes, importExample, nodeCount, offeredExamples } from "./import-example.ts";
import { crowdedNodes, deploy, drawnWires, tangledWires, wire } from "./wires.ts";
import { freePort } from "../support/servers.ts";
import { nodeRedMajor } from "../support/node-red.ts";

interface OnCanvas {
  readonly id: string;
  readonly type: string;
  readonly valid: boolean;
}

/** What the editor holds, config nodes and tabs included. */
function nodesIn(page: Page): Promise<OnCanvas[]> {
  return page.evaluate<OnCanvas[]>(`(() => {
    const found = [];
    const note = ({ id, type, valid }) => found.push({ id, type, valid: valid !== false });
    RED.nodes.eachNode(note);
    RED.nodes.eachConfig(note);
    RED.nodes.eachWorkspace(note);
    return found.filter(({ type }) => type !== "global-config");
  })()`);
}

/** Import, and a flow pasted into the field. */
async function pasteFlow(page: Page, text: string): Promise<void> {
  await page.locator("#red-ui-header-button-sidemenu").click();
  await page.locator("#menu-item-import").click();
  const field = page.locator("#red-ui-clipboard-dialog-import-text");
  await field.fill(text);
  // The dialog reads what is pasted at the next key.
  await field.press("End");
  const before = await page.evaluate<number>(nodeCount);
  await page.locator("#red-ui-clipboard-dialog-ok:enabled").click();
  await page.waitForFunction(`${nodeCount} > ${before}`);
}

/** Names of nodes on the canvas of which one covers another. */
function covered(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`(() => {
    const all = RED.nodes.filterNodes({ z: RED.workspaces.active() });
    const apart = (a, b) => Math.abs(a.x - b.x) >= (a.w + b.w) / 2 || Math.abs(a.y - b.y) >= (a.h + b.h) / 2;
    return all.flatMap((a, index) => all.slice(index + 1).filter((b) => !apart(a, b)).map((b) => a.id + " and " + b.id));
  })()`);
}

/** Notes all that stands below a node from now on: "blue dot: measuring". */
async function watchStatus(page: Page, id: string): Promise<void> {
  await page.evaluate(`(() => {
    window.dimensionerSeen = [];
    const node = document.getElementById("${id}");
    const note = () => {
      const [, shape, fill] = /status-(dot|ring)-(\\w+)/.exec(node.querySelector(".red-ui-flow-node-status")?.getAttribute("class")) ?? [];
      const text = node.querySelector(".red-ui-flow-node-status-label")?.textContent;
      const now = fill + " " + shape + ": " + text;
      if (fill !== undefined && window.dimensionerSeen.at(-1) !== now) { window.dimensionerSeen.push(now); }
    };
    new MutationObserver(note).observe(node, { subtree: true, childList: true, characterData: true, attributes: true });
  })()`);
}

/** What has stood below the node so far, once the last of it begins so. */
async function statusesUntil(page: Page, start: string): Promise<string[]> {
  await page.waitForFunction(`window.dimensionerSeen.at(-1)?.startsWith("${start}")`);
  return page.evaluate<string[]>("window.dimensionerSeen.splice(0)");
}

describe(`building flows in the editor, in Node-RED ${nodeRedMajor}`, () => {
  let editors: Editors;

  before(async () => {
    editors = await openEditors([{ id: "tab", type: "tab", label: "Dock" }]);
  });
  afterEach(() => editors.run(async ({ problems }) => assert.deepEqual(problems, [])));

  it("wires a scan to a measure, sees the dimensions, and in red that the device is off", () =>
    editors.run(async (openEditor) => {
      const { page } = openEditor;
      const simulator = await startSimulator({ ports: { newer: await freePort() }, parcel: "cube" });
      try {
        const inject = await dragFromPalette(page, "inject", 150, 100);
        const measure = await dragFromPalette(page, "dimensioner-measure", 400, 100);
        await wire(page, inject, measure);
        await openDialog(page, measure);
        await page.locator("#node-input-btn-device-add, #node-input-lookup-device-add").first().click();
        await opened(page, "#node-config-dialog-edit-form");
        await fill(page, "address", simulator.newer.origin, "#node-config-input-");
        await closeDialog(page, "ok", "config");
        // The editor fills in the new config node a moment after its dialog has closed.
        await page.locator("#node-input-device-problem").waitFor({ state: "hidden" });
        await closeDialog(page, "ok");
        await deploy(openEditor);

        // What the check of the new device says comes first, and not again for a while.
        await page.waitForFunction(`RED.nodes.node("${measure}").status?.text === "reachable"`);
        await watchStatus(page, measure);
        const scan = page.locator(`[id="${inject}"] .red-ui-flow-node-button-button`);
        // Until it has been seen: the editor is told of a status only now and then, and of the last one alone.
        const measuring = { kind: "delay", ms: 600_000 } as const;
        const held = simulator.faults.add({ path: "/api/v1/measure", times: 0, fault: measuring });
        await scan.click();
        assert.deepEqual(await statusesUntil(page, "blue"), ["blue dot: measuring"]);
        simulator.faults.remove(held);
        const done = await statusesUntil(page, "green");
        assert.match(done.at(-1) ?? "", /^green dot: \d+(?:\.\d+)?×\d+(?:\.\d+)?×\d+(?:\.\d+)? cm/);
        assert.equal(simulator.newer.actions.measures, 1);

        simulator.newer.setPower(false);
        await scan.click();
        const failed = await statusesUntil(page, "red");
        assert.equal(failed.at(-1), "red ring: no connection");
        const told = page.locator(".red-ui-debug-msg", { hasText: "No connection to 127.0.0.1" });
        await told.first().waitFor({ state: "attached" });
        assert.equal(simulator.newer.actions.measures, 1);
      } finally {
        await simulator.close();
      }
    }));

  it("offers each example in the menu", async () => {
    const names = (await exampleNames()).map((file) => basename(file, ".json"));
    assert.ok(names.length > 0);
    await editors.run(async ({ page }) => {
      assert.deepEqual((await offeredExamples(page)).toSorted(), names.toSorted());
    });
  });

  it("imports each example, without an unknown node of this package or an error, tidy on a canvas of 1,200 pixels", async () => {
    const files = await exampleNames();
    await editors.run(async ({ page, problems }) => {
      const before = await nodesIn(page);
      for (const file of files) {
        const name = basename(file, ".json");
        const nodes = await readExample(file);
        const expected = nodes.map(({ type }) => type).toSorted();
        // No example brings a secret but the station's, which is the simulator's, or a time stamp server: it has to be the user's own, and the
        // editor says so.
        const incomplete = nodes.filter(
          (node) =>
            (node.type === "dimensioner-transaction-in" && !("credentials" in node)) ||
            (node.type === "dimensioner-evidence" && node["action"] === "timestamp"),
        );
        // The next test uses the menu.
        await importAsTheDialogDoes(page, name);
        const added = (await nodesIn(page)).filter(({ id }) => before.every((one) => one.id !== id));
        assert.deepEqual(added.map(({ type }) => type).toSorted(), expected, name);
        assert.deepEqual(
          // Dashboard's nodes come with a package of their own, which the comment of the example names.
          added.filter(({ valid, type }) => !valid && !type.startsWith("ui-")).map(({ type }) => type),
          incomplete.map(({ type }) => type),
          name,
        );
        for (const { id, type } of added) {
          if (type === "tab") {
            await page.evaluate(`RED.workspaces.show("${id}")`);
            await page.waitForFunction(drawnWires);
            assert.deepEqual(await tangledWires(page), [], name);
            assert.deepEqual(await crowdedNodes(page), [], name);
          }
        }
        assert.deepEqual(problems, [], name);
        // Undone, so that the next one meets the editor as a new user has it.
        await page.keyboard.press("Control+z");
        assert.deepEqual(await nodesIn(page), before, name);
      }
    });
  });

  it("adds one device, one cloud and one store, however many examples are imported", () =>
    editors.run(async ({ page }) => {
      const before = await nodesIn(page);
      const names = [
        "01 newer device - scan to archive",
        "10 cloud - evidence archive",
        "22 device - heartbeat",
      ];
      for (const name of names) {
        await importExample(page, name);
      }
      const kinds = ["dimensioner-device", "dimensioner-cloud", "dimensioner-store"];
      const added = (await nodesIn(page)).filter(({ id }) => before.every((one) => one.id !== id));
      const types = added.map(({ type }) => type).filter((type) => kinds.includes(type));
      assert.deepEqual(types.toSorted(), kinds.toSorted());
      for (let imported = names.length; imported > 0; imported -= 1) {
        await page.keyboard.press("Control+z");
      }
    }));

  it("pastes each flow of the pages, with every node set right and none upon another", async () => {
    const flows = blocksIn(readPages(), "json").filter(({ text }) => isFlow(JSON.parse(text)));
    assert.ok(flows.length > 0);
    await editors.run(async ({ page }) => {
      const before = await nodesIn(page);
      for (const { at, text } of flows) {
        await pasteFlow(page, text);
        const wrong = (await nodesIn(page)).filter(({ valid }) => !valid);
        assert.deepEqual(
          wrong,
          before.filter(({ valid }) => !valid),
          at,
        );
        assert.deepEqual(await covered(page), [], at);
      }
    });
  });
});
