import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { editorsOfSuite } from "./open-editors.ts";
import {
  closeDialog,
  dragFromPalette,
  faultsOfDialog,
  fill,
  openConfigDialog,
  openDialog,
  opened,
  problemOf,
  savedProperties,
  shownProperties,
  type Entry,
} from "./dialog.ts";
import { catalogOf, defaultsOf } from "./sources.ts";
import { deploy } from "./wires.ts";
import { nodeRedMajor } from "../support/node-red.ts";

interface Step {
  readonly property: string;
  readonly entry: Entry;
}

interface Wrong extends Step {
  readonly explained: RegExp;
}

interface Case {
  readonly name: string;
  /** Filled in this order; then the node has `saved`, beside its defaults. */
  readonly steps: readonly Step[];
  readonly saved: Readonly<Record<string, unknown>>;
  /** A wrong entry, or several, and words of the sentence that explains it. */
  readonly wrong: Wrong | readonly Wrong[];
  /** Rows that are there for a choice alone: hidden in a fresh dialog, shown after the steps. */
  readonly appear: readonly string[];
}

const device: Step = { property: "device", entry: { choose: "device" } };
const cloud: Step = { property: "cloud", entry: { choose: "cloud" } };
const file: readonly Step[] = [
  { property: "output", entry: { choose: "file" } },
  { property: "folder", entry: { type: "env", value: "ARCHIVE" } },
  { property: "filename", entry: { type: "jsonata", value: "payload.name & '.jpg'" } },
  { property: "ifExists", entry: { choose: "error" } },
];
const savedFile = {
  output: "file",
  folder: "ARCHIVE",
  folderType: "env",
  filename: "payload.name & '.jpg'",
  filenameType: "jsonata",
  ifExists: "error",
};
const fileRows = ["folder", "filename", "ifExists"];

const cases: readonly Case[] = [
  {
    name: "measure",
    steps: [
      device,
      { property: "name", entry: "at the gate" },
      { property: "deviceFrom", entry: "dock" },
      { property: "transactionReference", entry: { type: "flow", value: "order" } },
      { property: "ifBlank", entry: { choose: "error" } },
      { property: "customReference2", entry: { type: "str", value: "left" } },
      { property: "ignoreRepeats", entry: "3" },
      { property: "failures", entry: { choose: "output" } },
      { property: "tag", entry: { choose: "customReference3" } },
    ],
    saved: {
      name: "at the gate",
      device: "device",
      deviceFrom: "dock",
      transactionReference: "order",
      transactionReferenceType: "flow",
      ifBlank: "error",
      customReference2: "left",
      ignoreRepeats: "3",
      failures: "output",
      tag: "customReference3",
      outputs: 2,
    },
    wrong: {
      property: "customReference1",
      entry: { type: "jsonata", value: "$(" },
      explained: /expression/i,
    },
    appear: [],
  },
  {
    name: "fetch-image",
    steps: [device, { property: "image", entry: { choose: "depth" } }, ...file],
    saved: { device: "device", image: "depth", ...savedFile },
    wrong: { property: "folder", entry: { type: "str", value: "" }, explained: /folder/ },
    appear: fileRows,
  },
  {
    name: "video-control",
    steps: [device, { property: "action", entry: { choose: "msg" } }],
    saved: { device: "device", action: "msg" },
    wrong: {
      property: "transactionReference",
      entry: { type: "msg", value: "a..b" },
      explained: /unexpected \. at position 2/,
    },
    appear: [],
  },
  {
    name: "fetch-video",
    steps: [
      device,
      { property: "method", entry: { choose: "stream" } },
      { property: "wait", entry: "90" },
      ...file,
    ],
    saved: { device: "device", method: "stream", wait: "90", ...savedFile },
    wrong: { property: "wait", entry: "-1", explained: /from 0 to/ },
    appear: fileRows,
  },
  {
    name: "remote-trigger",
    steps: [
      cloud,
      { property: "action", entry: { choose: "measure" } },
      { property: "deviceReference", entry: "ABCD2345" },
      { property: "failures", entry: { choose: "output" } },
    ],
    saved: { cloud: "cloud", action: "measure", deviceReference: "ABCD2345", failures: "output", outputs: 2 },
    wrong: { property: "deviceReference", entry: "dock 3", explained: /8 letters or digits/ },
    appear: ["failures"],
  },
  {
    name: "media-list",
    steps: [
      cloud,
      { property: "contentType", entry: { type: "str", value: "video/mp4" } },
      { property: "emit", entry: { choose: "split" } },
      { property: "expect", entry: "video/mp4, DepthImage16Bit" },
      { property: "wait", entry: "300" },
    ],
    saved: {
      cloud: "cloud",
      contentType: "video/mp4",
      emit: "split",
      expect: "video/mp4, DepthImage16Bit",
      wait: "300",
    },
    wrong: { property: "transactionId", entry: { type: "str", value: "" }, explained: /transaction ID/ },
    appear: ["wait"],
  },
  {
    name: "fetch-media",
    steps: [cloud, { property: "contentId", entry: { type: "global", value: "wanted" } }, ...file],
    saved: { cloud: "cloud", contentId: "wanted", contentIdType: "global", ...savedFile },
    wrong: { property: "filename", entry: { type: "str", value: "../x" }, explained: /out of the folder/ },
    appear: fileRows,
  },
  {
    name: "archive",
    steps: [
      cloud,
      { property: "store", entry: { choose: "store" } },
      { property: "layout", entry: "{device}/{transactionId}" },
      { property: "media", entry: { choose: "list" } },
      { property: "expect", entry: { type: "str", value: "video/mp4" } },
      { property: "wait", entry: "60" },
      { property: "onIncomplete", entry: { choose: "keep" } },
      { property: "keep", entry: "order" },
    ],
    saved: {
      cloud: "cloud",
      store: "store",
      layout: "{device}/{transactionId}",
      media: "list",
      expect: "video/mp4",
      expectType: "str",
      wait: "60",
      onIncomplete: "keep",
      keep: "order",
    },
    wrong: [
      { property: "layout", entry: "{nobody}", explained: /\{/ },
      { property: "keep", entry: "order.id, order number", explained: /expression/ },
    ],
    appear: ["expect"],
  },
];

const flows = [
  { id: "tab", type: "tab", label: "Dock" },
  { id: "device", type: "dimensioner-device", name: "Dock 3", address: "127.0.0.1:9", generation: "newer" },
  {
    id: "cloud",
    type: "dimensioner-cloud",
    name: "Our cloud",
    baseUrl: "https://127.0.0.1:9",
    credentials: { token: "never-in-the-browser" },
  },
  { id: "store", type: "dimensioner-store", name: "Evidence", folder: "ARCHIVE", folderType: "env" },
];

async function visibleRows(page: Page, properties: readonly string[]): Promise<string[]> {
  const shown = await Promise.all(
    properties.map((property) => page.locator(`.form-row:has(> * > #node-input-${property})`).isVisible()),
  );
  return properties.filter((_property, index) => shown[index]);
}

describe(`the dialogs, in Node-RED ${nodeRedMajor}`, () => {
  const editors = editorsOfSuite(flows);

  for (const { name, steps, saved, wrong, appear } of cases) {
    it(`${name}: from the palette, filled, saved, reopened, and a wrong entry explained`, () =>
      editors.run(async ({ page }) => {
        const id = await dragFromPalette(
          page,
          `dimensioner-${name}`,
          300,
          60 + 60 * cases.findIndex((one) => one.name === name),
        );
        await openDialog(page, id);
        assert.deepEqual(await visibleRows(page, appear), []);
        assert.deepEqual(await faultsOfDialog(page), []);
        assert.equal(await problemOf(page, steps[0]?.property ?? ""), "", "the only one is chosen");
        for (const { property, entry } of steps) {
          await fill(page, property, entry);
        }
        assert.deepEqual(await visibleRows(page, appear), appear);
        assert.deepEqual(await faultsOfDialog(page), []);
        await closeDialog(page, "ok");

        const expected = { ...(await defaultsOf(name)), ...saved };
        const before = await savedProperties(page, id);
        assert.deepEqual({ ...before, ...numbersAsText(expected) }, numbersAsText(before));
        assert.equal(await page.evaluate(`RED.nodes.node("${id}").valid`), true);

        await openDialog(page, id);
        const { version, ...inFields } = before;
        assert.equal(version, 1);
        assert.deepEqual(await shownProperties(page, id), numbersAsText(inFields));
        for (const { property, entry, explained } of [wrong].flat()) {
          await fill(page, property, entry);
          assert.match(await problemOf(page, property), explained);
          const visible = page
            .locator(`#node-input-${property}-value, #node-input-${property}:visible`)
            .first();
          assert.equal(await visible.getAttribute("aria-invalid"), "true");
        }
        await closeDialog(page, "cancel");
        assert.deepEqual(await savedProperties(page, id), before);
      }));
  }

  it("evidence has a second output only for one message of each thing that is missing", () =>
    editors.run(async ({ page }) => {
      const id = await dragFromPalette(page, "dimensioner-evidence", 500, 120);
      for (const [action, emit, outputs] of [
        ["missing", "split", 2],
        ["missing", "array", 1],
        ["msg", "split", 2],
        ["find", "split", 1],
      ] as const) {
        await openDialog(page, id);
        await fill(page, "action", { choose: action });
        await fill(page, "emit", { choose: emit });
        await closeDialog(page, "ok");
        assert.equal((await savedProperties(page, id))["outputs"], outputs, `${action} ${emit}`);
      }
    }));

  it("the name of another device stands below a fold that a key opens, and that is open once it is set", () =>
    editors.run(async ({ page }) => {
      const id = await dragFromPalette(page, "dimensioner-measure", 500, 60);
      await openDialog(page, id);
      const from = page.locator("#node-input-deviceFrom-value");
      assert.equal(await from.isVisible(), false);
      const fold = page.locator(".dimensioner-form details > summary");
      assert.equal(await fold.textContent(), "Advanced");
      await fold.press("Enter");
      await from.waitFor({ state: "visible" });
      assert.deepEqual(await faultsOfDialog(page), []);
      await fill(page, "deviceFrom", "a..b");
      assert.match(await problemOf(page, "deviceFrom"), /position/);
      await fill(page, "deviceFrom", "dock");
      await closeDialog(page, "ok");
      await openDialog(page, id);
      assert.equal(await from.isVisible(), true);
      await closeDialog(page, "cancel");
    }));

  it("an older config node has no health check, and a new one has one every 30 seconds", () =>
    editors.run(async ({ page }) => {
      const interval = page.locator("#node-config-input-checkInterval");
      for (const id of ["device", "cloud"]) {
        await openConfigDialog(page, id);
        assert.equal(await interval.inputValue(), "0");
        await closeDialog(page, "cancel", "config");
        await page.evaluate(`RED.editor.editConfig("", "dimensioner-${id}", "_ADD_")`);
        await opened(page, "#node-config-dialog-edit-form");
        assert.equal(await interval.inputValue(), "30");
        await closeDialog(page, "cancel", "config");
      }
    }));

  it("a config node is made from within a dialog, and the node's label names it", () =>
    editors.run(async ({ page }) => {
      const id = await dragFromPalette(page, "dimensioner-measure", 300, 560);
      await openDialog(page, id);
      await page.locator("#node-input-btn-device-add, #node-input-lookup-device-add").first().focus();
      await page.keyboard.press("Enter");
      await opened(page, "#node-config-dialog-edit-form");
      const config = "#node-config-input-";
      assert.match(await problemOf(page, "address", config), /IP address or a host name/);
      assert.deepEqual(await faultsOfDialog(page), []);
      await fill(page, "name", "Dock 4", config);
      // What is pasted counts at once, not when the field is left: then what is below it would move under the pointer.
      await fill(page, "address", "", config);
      await page.locator(`${config}address`).focus();
      await page.keyboard.insertText("192.168.1.40 x");
      assert.match(await page.locator(`${config}address-problem`).innerText(), /^It has spaces/);
      await fill(page, "address", "192.168.1.40/api", config);
      assert.match(await problemOf(page, "address", config), /no path/);
      await fill(page, "address", "${DOCK_4}", config);
      assert.equal(await problemOf(page, "address", config), "");
      await fill(page, "generation", { choose: "earlier" }, config);
      await closeDialog(page, "ok", "config");
      await page.locator(".form-tips", { hasText: "earlier generation" }).waitFor({ state: "visible" });
      await closeDialog(page, "ok");
      assert.equal(await page.evaluate(`RED.utils.getNodeLabel(RED.nodes.node("${id}"))`), "measure: Dock 4");

      const other = await dragFromPalette(page, "dimensioner-measure", 500, 160);
      await openDialog(page, other);
      assert.match(await problemOf(page, "device"), /^Select a device/, "with two, none is chosen");
      await closeDialog(page, "cancel");
      await page.evaluate(`RED.nodes.remove("${other}")`);
    }));

  it("the cloud's dialog allows http only where it is asked to, and never shows the token", () =>
    editors.run(async ({ page }) => {
      const config = "#node-config-input-";
      await openConfigDialog(page, "cloud");
      await fill(page, "baseUrl", "http://cloud.example", config);
      assert.match(await problemOf(page, "baseUrl", config), /start with https/);
      assert.deepEqual(await faultsOfDialog(page), []);
      await fill(page, "allowHttp", true, config);
      assert.equal(await problemOf(page, "baseUrl", config), "");
      assert.equal(await page.locator(`${config}token`).inputValue(), "__PWRD__");
      await fill(page, "token", "", config);
      assert.match(await problemOf(page, "token", config), /Paste the token/);
      await closeDialog(page, "cancel", "config");
      assert.equal((await page.content()).includes("never-in-the-browser"), false);
    }));

  it("help stands in the sidebar for every type", () =>
    editors.run(async ({ page }) => {
      for (const { name } of cases) {
        await page.evaluate(`RED.sidebar.help.show("dimensioner-${name}")`);
        const palette = (await catalogOf(name)).get("palette") ?? "";
        await page.locator(".red-ui-help-title").getByText(palette, { exact: true }).waitFor();
        await page.locator(".red-ui-help h3", { hasText: "Outputs" }).waitFor();
      }
    }));

  it("a deploy takes what the dialogs saved, and an export holds no token", () =>
    editors.run(async (openEditor) => {
      await deploy(openEditor);
      const deployed = await (await openEditor.nodeRed.adminFetch("/flows")).text();
      assert.match(deployed, /"deviceFrom":"dock"/);
      assert.equal(deployed.includes("never-in-the-browser"), false);
    }));
});

/** A dialog saves numbers as the text that was typed. */
function numbersAsText(properties: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(properties).map(([key, value]) => [
      key,
      typeof value === "number" ? String(value) : value,
    ]),
  );
}
