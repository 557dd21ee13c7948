import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { untilUsable } from "../support/browser.ts";
import { startServer, type RawServer } from "../support/servers.ts";
import { openEditors, type OpenEditor, type Editors } from "./open-editors.ts";
import { closeDialog, faultsOfDialog, fill, openDialog } from "./dialog.ts";
import { nodeRedMajor } from "../support/node-red.ts";

/** A JPEG by its first and last bytes, and larger than what is kept. */
const large = Buffer.concat([
  Buffer.from("ffd8ffe000104a464946", "hex"),
  Buffer.alloc(2_100_000),
  Buffer.from("ffd9", "hex"),
]);

const shown = (page: Page): Locator => page.locator(".dimensioner-form .dimensioner-preview img");

/** Resolves when the image is decoded, with its size in its own pixels. */
async function sizeOf(image: Locator): Promise<[number, number]> {
  await image.waitFor();
  return image.evaluate(async (element) => {
    await Reflect.get(element, "decode").call(element);
    return [Number(Reflect.get(element, "naturalWidth")), Number(Reflect.get(element, "naturalHeight"))];
  });
}

describe(`the last image in the editor, in Node-RED ${nodeRedMajor}`, () => {
  let simulator: Simulator;
  let device: RawServer;
  let folder: string;
  let editors: Editors;
  let flows: object[];

  const kept = ({ nodeRed }: OpenEditor, id: string): Promise<Response> =>
    nodeRed.adminFetch(`/dimensioner-fetch-image/${id}/preview`);
  const inject = async ({ nodeRed }: OpenEditor, id: string): Promise<void> => {
    assert.equal((await nodeRed.adminFetch(`/inject/${id}`, { method: "POST" })).status, 200);
  };
  /** The editor hears of an image when the node has kept it. */
  const heardOf = async ({ page }: OpenEditor, id: string, act: () => Promise<void>): Promise<void> => {
    await page.evaluate(`void (window.heardOf = new Promise((resolve) => {
      const topic = "dimensioner/preview/${id}";
      const listen = (_topic, told) => {
        if (told.version > (window.lastVersion ?? 0)) {
          window.lastVersion = told.version;
          RED.comms.unsubscribe(topic, listen);
          resolve(Object.keys(told).join());
        }
      };
      RED.comms.subscribe(topic, listen);
    }))`);
    await act();
    assert.equal(await page.evaluate("window.heardOf"), "version,bytes,shown");
  };

  before(async () => {
    simulator = await startSimulator();
    folder = await mkdtemp(join(tmpdir(), "preview-"));
    device = await startServer((_request, socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: ${large.length}\r\n\r\n`);
      socket.write(large);
    });
    const place = (x: number, y: number): object => ({ z: "tab", x, y });
    const image = { type: "dimensioner-fetch-image", device: "device", preview: true, wires: [[]] };
    const byHand = { type: "inject", props: [{ p: "imageIdentifier", v: "any", vt: "str" }] };
    flows = [
      { id: "tab", type: "tab", label: "Dock" },
      { id: "device", type: "dimensioner-device", name: "Dock 3", address: simulator.newer.origin },
      { id: "large-device", type: "dimensioner-device", name: "Dock 4", address: device.origin },
      { id: "go", ...place(100, 60), type: "inject", props: [], wires: [["measure"]] },
      {
        id: "measure",
        ...place(260, 60),
        type: "dimensioner-measure",
        device: "device",
        wires: [["image", "file", "quiet", "instance"]],
      },
      { id: "image", ...place(460, 60), ...image },
      { id: "file", ...place(460, 120), ...image, image: "depth", output: "file", folder },
      { id: "quiet", ...place(460, 180), ...image, preview: false },
      {
        id: "subflow",
        type: "subflow",
        name: "Picture",
        in: [{ x: 40, y: 40, wires: [{ id: "inner" }] }],
        out: [],
      },
      { id: "inner", ...image, z: "subflow", x: 200, y: 40, image: "color" },
      { id: "instance", ...place(460, 240), type: "subflow:subflow", wires: [] },
      { id: "go-large", ...place(100, 300), ...byHand, wires: [["large"]] },
      { id: "large", ...place(260, 300), ...image, device: "large-device" },
    ];
    editors = await openEditors(flows);
  });
  after(async () => {
    await device?.close();
    await simulator?.close();
    await rm(folder, { recursive: true, force: true });
  });
  afterEach(() => editors.run(async ({ problems }) => assert.deepEqual(problems, [])));

  it("shows it in the dialog where the option is on, and the next one in its place", () =>
    editors.run(async (openEditor) => {
      const { page } = openEditor;
      await page.evaluate(`window.urls = { made: 0, revoked: 0 };
        for (const [name, count] of [["createObjectURL", "made"], ["revokeObjectURL", "revoked"]]) {
          const original = URL[name];
          URL[name] = (given) => { window.urls[count]++; return original.call(URL, given); };
        }`);
      await openDialog(page, "image");
      const place = page.locator(".dimensioner-form .dimensioner-preview");
      await place.getByText("No image since the last deploy.").waitFor();
      await heardOf(openEditor, "image", () => inject(openEditor, "go"));
      const size = await sizeOf(shown(page));
      assert.ok(Math.min(...size) > 50, String(size));
      assert.equal(await shown(page).getAttribute("alt"), "Last image");
      assert.deepEqual(await faultsOfDialog(page), []);

      const before = await shown(page).getAttribute("src");
      await heardOf(openEditor, "image", () => inject(openEditor, "go"));
      await page.waitForFunction(
        `$(".dimensioner-form .dimensioner-preview img").attr("src") !== "${before}"`,
      );
      await sizeOf(shown(page));
      await page.waitForFunction("window.urls.made === 2 && window.urls.revoked === 2");
      await fill(page, "preview", false);
      await place.waitFor({ state: "hidden" });
      await closeDialog(page, "cancel");
    }));

  it("keeps that of a saved file and of a subflow, and none where the option is off", () =>
    editors.run(async (openEditor) => {
      await heardOf(openEditor, "file", () => inject(openEditor, "go"));
      const answer = await kept(openEditor, "file");
      const { headers } = answer;
      const files = (await readdir(folder)).filter((file) => file.endsWith(".bmp"));
      const content = await readFile(join(folder, files[0] ?? ""));
      assert.deepEqual(Buffer.from(await answer.arrayBuffer()), content);
      assert.deepEqual(
        ["content-type", "cache-control", "x-content-type-options", "content-security-policy"].map((name) =>
          headers.get(name),
        ),
        ["image/bmp", "no-store", "nosniff", "sandbox; default-src 'none'"],
      );
      assert.equal((await kept(openEditor, "image")).headers.get("content-type"), "image/jpeg");
      await heardOf(openEditor, "inner", () => inject(openEditor, "go"));
      assert.equal((await kept(openEditor, "inner")).status, 200);
      for (const id of ["quiet", "device", "measure", "nothing"]) {
        assert.equal((await kept(openEditor, id)).status, 204, id);
      }
    }));

  it("opens it from a sign above the node, in Node-RED 5", () =>
    editors.run(async ({ page, major }) => {
      const badge = page.locator(`[id="image"] .dimensioner-preview-badge:not(.hide)`);
      if (major === 4) {
        assert.equal(await badge.count(), 0);
        return;
      }
      await badge.locator("rect").click();
      const size = await sizeOf(page.locator(".red-ui-popover .dimensioner-preview img"));
      assert.ok(Math.min(...size) > 50, String(size));
      await page.locator("#red-ui-workspace-chart").click({ position: { x: 700, y: 500 } });
      await page.locator(".red-ui-popover .dimensioner-preview").waitFor({ state: "detached" });
      assert.equal(await page.locator(`[id="quiet"] .dimensioner-preview-badge:not(.hide)`).count(), 0);
    }));

  it("keeps no image over 2 MB, and says how large it is", () =>
    editors.run(async (openEditor) => {
      const { page } = openEditor;
      await heardOf(openEditor, "large", () => inject(openEditor, "go-large"));
      assert.equal((await kept(openEditor, "large")).status, 204);
      await openDialog(page, "large");
      await page.getByText("The last image has 2.1 MB: too large to show.").waitFor();
      await closeDialog(page, "cancel");
    }));

  it("forgets it with the next deploy", () =>
    editors.run(async (openEditor) => {
      const { page, nodeRed } = openEditor;
      assert.equal((await kept(openEditor, "image")).status, 200);
      await nodeRed.deploy(flows);
      for (const id of ["image", "file", "inner"]) {
        assert.equal((await kept(openEditor, id)).status, 204, id);
      }
      await page.reload();
      await untilUsable(page);
      await openDialog(page, "image");
      await page.getByText("No image since the last deploy.").waitFor();
      await closeDialog(page, "cancel");
      assert.equal(await page.locator(".dimensioner-preview-badge:not(.hide)").count(), 0);
    }));
});
