import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { startSimulator } from "../../src/simulator/index.ts";
import { simulatorSecret } from "../../tools/demo/examples.ts";
import { readJson, sha256 } from "../examples/archive.ts";
import { openBothEditors, type BothEditors } from "./both-editors.ts";
import { closeDialog, dragFromPalette, fill, openDialog, opened, type Entry } from "./dialog.ts";
import { deploy, wire } from "./wires.ts";

const registrationCode = "ABCD2345";

/** A type, and what is done in the dialog of its node; nothing: it stays as it is dropped. */
type Step = readonly [type: string, work?: () => Promise<void>];

/**
 * Drags one node after the other from the palette, wires it to the one before, and fills in its dialog. The row goes up and
 * down, so that long labels fit.
 */
async function build(page: Page, y: number, steps: readonly Step[]): Promise<string[]> {
  const ids: string[] = [];
  for (const [index, [type, work]] of steps.entries()) {
    const id = await dragFromPalette(page, type, 140 + index * 160, y + (index % 2) * 50);
    const before = ids.at(-1);
    if (before !== undefined) {
      await wire(page, before, id);
    }
    if (work !== undefined) {
      await openDialog(page, id);
      await work();
      await closeDialog(page, "ok");
    }
    ids.push(id);
  }
  return ids;
}

/** In the open dialog of a node: adds the config node of this field, and fills in its dialog. */
async function addConfig(page: Page, field: string, entries: Readonly<Record<string, Entry>>): Promise<void> {
  await page.locator(`#node-input-btn-${field}-add, #node-input-lookup-${field}-add`).first().click();
  await opened(page, "#node-config-dialog-edit-form");
  for (const [property, entry] of Object.entries(entries)) {
    await fill(page, property, entry, "#node-config-input-");
  }
  await closeDialog(page, "ok", "config");
  // The editor fills in the new config node a moment after its dialog has closed.
  await page.waitForFunction(`!["", "_ADD_"].includes($("#node-input-${field}").val())`);
}

/** Presses the button of an inject node, waits for the archive node, and reads the package that came of it. */
async function packageOf(page: Page, [inject = "", ...others]: readonly string[], folder: string) {
  const archive = others.at(-1) ?? "";
  const packages = async () =>
    (await readdir(folder, { recursive: true })).filter((name) => name.endsWith("manifest.json"));
  const before = await packages();
  // Where the editor has moved the canvas, the button may be below the palette.
  await page.evaluate('$("#red-ui-workspace-chart").scrollLeft(0).scrollTop(0)');
  await page.locator(`[id="${inject}"] .red-ui-flow-node-button-button`).click();
  await page.waitForFunction(`/^archived/.test(RED.nodes.node("${archive}").status?.text ?? "")`);
  const [name = "", ...rest] = (await packages()).filter((one) => !before.includes(one));
  assert.deepEqual(rest, []);
  const at = join(folder, name, "..");
  const manifest = await readJson(join(folder, name));
  const items = manifest["items"] as { path: string; sha256: string; contentType?: string }[];
  for (const { path, sha256: hash } of items) {
    assert.equal(sha256(await readFile(join(at, path))), hash, path);
  }
  return { manifest, files: await readdir(at) };
}

describe("the main job, built on an empty canvas with mouse and keyboard, in Node-RED 4.1 and 5.0", () => {
  let both: BothEditors;

  before(async () => {
    both = await openBothEditors([{ id: "tab", type: "tab", label: "Dock" }]);
  });
  after(() => both?.close());

  it("measures, films and archives in one package: with a newer device, with the cloud only, and with an earlier device", () =>
    both.run(async (openEditor) => {
      const { page, nodeRed, problems } = openEditor;
      const folder = await mkdtemp(join(tmpdir(), "main-job-"));
      const header = { name: "x-webhook-secret", value: simulatorSecret };
      const simulator = await startSimulator({
        encodingMs: 300,
        mediaDelayMs: 100,
        webhooks: [{ url: `${nodeRed.url}/dimensioner/transaction`, header }],
      });
      const { newer, earlier, cloud } = simulator;
      try {
        const local = await build(page, 40, [
          ["inject"],
          ["dimensioner-video-control", () => addConfig(page, "device", { address: newer.origin })],
          // Without a tag, the record of the webhook is found ten seconds later.
          ["dimensioner-measure", () => fill(page, "tag", { choose: "customReference1" })],
          [
            "dimensioner-archive",
            async () => {
              await addConfig(page, "store", { folder });
              await addConfig(page, "cloud", { baseUrl: cloud.origin, token: cloud.token });
              await fill(page, "settle", "1");
            },
          ],
        ]);
        await build(page, 160, [["dimensioner-transaction-in", () => fill(page, "secret", simulatorSecret)]]);
        const remote = await build(page, 220, [
          ["inject"],
          ["dimensioner-remote-trigger", () => fill(page, "deviceReference", registrationCode)],
          [
            "dimensioner-remote-trigger",
            async () => {
              await fill(page, "action", { choose: "measure" });
              await fill(page, "deviceReference", registrationCode);
            },
          ],
          ["dimensioner-archive", () => fill(page, "settle", "1")],
        ]);
        const another = { address: earlier.origin, generation: { choose: "earlier" } };
        const old = await build(page, 340, [
          ["inject"],
          ["dimensioner-measure", () => addConfig(page, "device", another)],
          // It takes the only cloud there is, and the cloud has nothing of this device.
          ["dimensioner-archive", () => fill(page, "media", { choose: "none" })],
        ]);
        await deploy(openEditor);

        const fromDevice = await packageOf(page, local, folder);
        assert.equal(fromDevice.manifest["complete"], true);
        for (const name of [
          "measurement.json",
          "measurement.raw",
          "ColorVideoMp4.mp4",
          "DepthImage16Bit.bmp",
          "annotated.jpg",
          "color.jpg",
        ]) {
          assert.ok(fromDevice.files.includes(name), `${name}: ${fromDevice.files.join(", ")}`);
        }
        const throughCloud = await packageOf(page, remote, folder);
        assert.equal(throughCloud.manifest["complete"], true);
        for (const name of [
          "measurement.json",
          "measurement.raw",
          "ColorVideoMp4.mp4",
          "AnnotatedColorImageJpeg.jpg",
        ]) {
          assert.ok(throughCloud.files.includes(name), `${name}: ${throughCloud.files.join(", ")}`);
        }
        const fromEarlier = await packageOf(page, old, folder);
        assert.equal(fromEarlier.manifest["complete"], true);
        assert.deepEqual(fromEarlier.files.toSorted(), [
          "manifest.json",
          "measurement.json",
          "measurement.raw",
        ]);
        assert.deepEqual(problems, []);
      } finally {
        await simulator.close();
        await rm(folder, { recursive: true, force: true, maxRetries: 3 });
      }
    }));
});
