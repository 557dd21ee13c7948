import assert from "node:assert/strict";
import { nodeRedMajor } from "../support/node-red.ts";
import { closeDialog, fill, openDialog } from "./dialog.ts";
import { editorsOfSuite } from "./open-editors.ts";

const node = (id: string, type: string, x: number, wires: string[], more: object): object => ({
  id,
  type: `dimensioner-${type}`,
  z: "tab",
  x,
  y: 120,
  wires: [wires],
  ...more,
});

const flows = [
  { id: "tab", type: "tab", label: "Dock" },
  { id: "dock", type: "dimensioner-device", name: "Dock 3", address: "127.0.0.1:9", generation: "newer" },
  { id: "store", type: "dimensioner-store", name: "Evidence", folder: "ARCHIVE", folderType: "env" },
  node("start", "video-control", 120, [], { device: "dock", action: "start" }),
  node("stop", "video-control", 120, [], { device: "dock", action: "stop", y: 220 }),
  node("measure", "measure", 320, ["archive"], { device: "dock2" }),
  { id: "dock2", type: "dimensioner-device", name: "Dock 4", address: "127.0.0.1:9", generation: "newer" },
  node("archive", "archive", 520, [], { store: "store" }),
];

describe(`a video that no archive node collects, in the editor of Node-RED ${nodeRedMajor}`, () => {
  const editors = editorsOfSuite(flows);

  it("makes the archive node invalid while it is wired to the start, and says why in its dialog", () =>
    editors.run(async ({ page }) => {
      const isValid = (wanted: boolean): Promise<unknown> =>
        page.waitForFunction(`RED.nodes.node("archive").valid === ${wanted}`);
      const link = `{ source: RED.nodes.node("start"), sourcePort: 0, target: RED.nodes.node("measure") }`;
      await isValid(true);
      await page.evaluate(`RED.nodes.addLink(window.dimensionerLink = ${link})`);
      await isValid(false);
      await openDialog(page, "archive");
      const problem = page.locator("#node-input-media-problem");
      assert.match(await problem.innerText(), /^A video is started before this node/);
      await fill(page, "deviceVideo", true);
      await page.waitForFunction(`document.querySelector("#node-input-media-problem").innerText === ""`);
      await fill(page, "deviceVideo", false);
      await fill(page, "media", { choose: "pictures" });
      assert.equal(await problem.innerText(), "");
      await closeDialog(page, "cancel");
      await isValid(false);
      await page.evaluate(`RED.nodes.removeLink(window.dimensionerLink)`);
      await isValid(true);
      await page.evaluate(`(() => {
        const start = RED.nodes.node("start");
        start.device = "dock2";
        RED.events.emit("nodes:change", start);
      })()`);
      await isValid(false);
    }));
});
