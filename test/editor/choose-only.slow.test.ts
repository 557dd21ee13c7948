import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { editorsOfSuite } from "./open-editors.ts";
import { closeDialog, dragFromPalette, fill, openDialog, opened } from "./dialog.ts";
import { importExample } from "./import-example.ts";
import { nodeRedMajor } from "../support/node-red.ts";

const tab = { id: "tab", type: "tab", label: "Dock" };
const flows = [
  tab,
  { id: "tab-2", type: "tab", label: "Another dock" },
  { id: "device", type: "dimensioner-device", name: "Dock 3", address: "127.0.0.1:9", generation: "newer" },
  { id: "cloud", type: "dimensioner-cloud", name: "Our cloud", baseUrl: "https://127.0.0.1:9" },
  { id: "store", type: "dimensioner-store", name: "Evidence", folder: "ARCHIVE", folderType: "env" },
];

/** Adds config nodes as an import does, at once. */
const add = (page: Page, kind: string, ...nodes: readonly object[]): Promise<unknown> =>
  page.evaluate(`${JSON.stringify(nodes)}.forEach((node) => {
    const type = "dimensioner-${kind}";
    RED.nodes.add({ users: [], z: "", ...node, type, _def: RED.nodes.getType(type) });
  })`);

const remove = (page: Page, ...ids: readonly string[]): Promise<unknown> =>
  page.evaluate(
    `${JSON.stringify(ids)}.filter((id) => RED.nodes.node(id)).forEach((id) => RED.nodes.remove(id))`,
  );

const propertyOf = (page: Page, id: string, property: string): Promise<unknown> =>
  page.evaluate(`RED.nodes.node("${id}").${property}`);

const usersOf = (page: Page, config: string): Promise<unknown> =>
  page.evaluate(`RED.nodes.node("${config}").users.map(({ id }) => id)`);

/** What has been put off until now has been done. */
const settled = (page: Page): Promise<unknown> =>
  page.evaluate("new Promise((resolve) => setTimeout(() => setTimeout(resolve)))");

describe(`which device, cloud and store a new node uses, in Node-RED ${nodeRedMajor}`, () => {
  const editors = editorsOfSuite(flows);

  it("is the only one that it can use, and none among several", () =>
    editors.run(async ({ page }) => {
      const chosenBy = async (type: string, property = "device"): Promise<unknown> => {
        const id = await dragFromPalette(page, `dimensioner-${type}`, 500, 400);
        const chosen = await propertyOf(page, id, property);
        await remove(page, id);
        return chosen;
      };
      try {
        await add(page, "device", { id: "disabled", d: true });
        await add(page, "device", { id: "elsewhere", z: "tab-2" });
        assert.equal(await chosenBy("measure"), "device");
        assert.equal(await chosenBy("transaction-in", "store"), "store");
        await add(page, "store", { id: "shelf" });
        assert.equal(await chosenBy("transaction-in", "store"), "", "either store would do");
        await add(page, "device", { id: "earlier", generation: "earlier" });
        assert.equal(await chosenBy("measure"), "", "either would do");
        assert.equal(await chosenBy("fetch-image"), "device", "the other one has no images");
      } finally {
        await remove(page, "disabled", "elsewhere", "earlier", "shelf");
      }
    }));

  it("is none for a node that is imported: blank is what its flow says", () =>
    editors.run(async ({ page }) => {
      await importExample(page, "03 earlier device - scan to archive");
      const archive = await page.evaluate<string>(
        'RED.nodes.filterNodes({ type: "dimensioner-archive" })[0].id',
      );
      assert.equal(await propertyOf(page, archive, "cloud"), "");
      assert.deepEqual(await usersOf(page, "cloud"), []);
      await page.keyboard.press("Control+z");
    }));
});

describe(`which device, cloud and store a node uses that was there before them, in Node-RED ${nodeRedMajor}`, () => {
  const editors = editorsOfSuite([tab]);

  it("is the first one that is added in the dialog of another node, and the node is then set right", () =>
    editors.run(async ({ page }) => {
      const first = await dragFromPalette(page, "dimensioner-video-control", 300, 60);
      const second = await dragFromPalette(page, "dimensioner-measure", 500, 60);
      assert.equal(await propertyOf(page, second, "valid"), false);
      await openDialog(page, first);
      await page.locator("#node-input-btn-device-add, #node-input-lookup-device-add").first().click();
      await opened(page, "#node-config-dialog-edit-form");
      await fill(page, "address", "127.0.0.1:9", "#node-config-input-");
      await closeDialog(page, "ok", "config");
      await page.locator("#node-input-device-problem").waitFor({ state: "hidden" });
      await closeDialog(page, "ok");
      const device = String(await propertyOf(page, first, "device"));
      assert.equal(await propertyOf(page, second, "device"), device);
      assert.equal(await propertyOf(page, second, "valid"), true);
      assert.deepEqual(await usersOf(page, device), [first, second]);
      await remove(page, first, second, device);
    }));

  it("is none of several that are added at once, and none once somebody has closed the dialog without one", () =>
    editors.run(async ({ page }) => {
      const open = await dragFromPalette(page, "dimensioner-measure", 300, 160);
      const closed = await dragFromPalette(page, "dimensioner-archive", 500, 160);
      await add(page, "device", { id: "one" }, { id: "two" });
      await settled(page);
      assert.equal(await propertyOf(page, open, "device"), "");
      await openDialog(page, closed);
      await closeDialog(page, "ok");
      await add(page, "cloud", { id: "cloud" });
      await settled(page);
      assert.equal(await propertyOf(page, closed, "cloud"), "");
      await remove(page, open, closed, "one", "two", "cloud");
    }));
});
