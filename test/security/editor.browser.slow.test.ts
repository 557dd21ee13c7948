import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { openEditors, type OpenEditor, type Editors } from "../editor/open-editors.ts";
import { closeDialog, fill, openConfigDialog, openDialog } from "../editor/dialog.ts";
import { controls, showyTexts } from "../support/hostile.ts";
import { replyBytes, replyJson, startServer, type RawServer } from "../support/servers.ts";
import { nodeRedMajor } from "../support/node-red.ts";

/** What does not fit on a line in a list is cut by the runtime. */
const names = showyTexts.map((text) => text.slice(0, 150).toWellFormed());

const injected = (page: Page): Promise<unknown> =>
  page.evaluate(`({
    ran: window.dimensionerHacked,
    elements: document.querySelectorAll("[onerror], [onload]").length
      + [...document.scripts].filter((one) => one.textContent.startsWith("dimensionerHacked")).length,
  })`);

describe(`hostile texts in the editor of Node-RED ${nodeRedMajor} are shown as text`, () => {
  let stranger: RawServer;
  let editors: Editors;

  before(async () => {
    const image = Buffer.concat([
      Buffer.from("ffd8ffe000104a464946", "hex"),
      Buffer.from(`<script>dimensionerHacked=1</script>`),
      Buffer.alloc(2_100_000),
      Buffer.from("ffd9", "hex"),
    ]);
    let measures = 0;
    stranger = await startServer(({ target }, socket) => {
      if (target.startsWith("/api/deviceclients")) {
        const devices = names.map((name, index) => ({
          id: `${index}`,
          name,
          registrationCode: `HACK${1000 + index}`,
          lastHeartbeatUtc: name,
          terminalId: name,
        }));
        replyJson(socket, devices);
      } else if (target.includes("/image/")) {
        socket.write(replyBytes({ headers: { "content-type": "image/jpeg" }, body: image }));
      } else if (target.includes("/measure")) {
        const text = `${++measures} ${showyTexts[measures % showyTexts.length]}`;
        replyJson(socket, {
          errorCode: 0,
          errorMessage: text,
          // A longer unit is none: the answer could not be used.
          dimsUnitOfMeasure: text.slice(0, 300),
          objectCount: 1,
          measuredObjects: [{ errorCode: 0, length: 1, width: 2, height: 3 }],
        });
      } else {
        replyJson(socket, { msg: names[0] }, { status: 404 });
      }
    });
    const at = (x: number, y: number): object => ({ z: "tab", x, y });
    editors = await openEditors([
      { id: "tab", type: "tab", label: "Dock" },
      { id: "device", type: "dimensioner-device", name: names[0], address: stranger.origin },
      {
        id: "cloud",
        type: "dimensioner-cloud",
        name: names[1],
        baseUrl: stranger.origin,
        credentials: { token: "typed" },
      },
      { id: "go", ...at(100, 60), type: "inject", props: [], wires: [["measure"]] },
      { id: "measure", ...at(260, 60), type: "dimensioner-measure", device: "device", name: names[2] },
      {
        id: "trigger",
        ...at(260, 120),
        type: "dimensioner-remote-trigger",
        cloud: "cloud",
        action: "measure",
        deviceReference: "ABCD2345",
        name: names[3],
      },
      {
        id: "go-image",
        ...at(100, 180),
        type: "inject",
        props: [{ p: "imageIdentifier", v: "any", vt: "str" }],
        wires: [["image"]],
      },
      {
        id: "image",
        ...at(260, 180),
        type: "dimensioner-fetch-image",
        device: "device",
        preview: true,
        name: names[5],
        wires: [[]],
      },
    ]);
  });
  after(async () => {
    await stranger?.close();
  });
  afterEach(() =>
    editors.run(async ({ page, problems }) => {
      assert.deepEqual(problems, []);
      assert.deepEqual(await injected(page), { ran: undefined, elements: 0 });
    }),
  );

  it("in the status below a node", () =>
    editors.run(async ({ page, nodeRed }: OpenEditor) => {
      const status = page.locator(`[id="measure"] .red-ui-flow-node-status-label`);
      let last = 0;
      // Each text comes twice, in one editor or the other.
      for (const _text of showyTexts) {
        await nodeRed.adminFetch("/inject/go", { method: "POST" });
        const number = `Number(/^1×2×3 (\\d+)/.exec(RED.nodes.node("measure").status?.text ?? "")?.[1] ?? 0)`;
        await page.waitForFunction(`${number} > ${last}`);
        last = await page.evaluate<number>(number);
        await page.waitForFunction(
          `document.querySelector('[id="measure"] .red-ui-flow-node-status-label').textContent.startsWith("1×2×3 ${last}")`,
        );
        const shown = (await status.textContent()) ?? "";
        assert.ok(shown.length < 32, shown);
        assert.doesNotMatch(shown, controls);
      }
    }));

  it("in Test connection, and in the dialog of what has such a name", () =>
    editors.run(async ({ page }) => {
      await openConfigDialog(page, "cloud");
      assert.equal(await page.locator("#node-config-input-name").inputValue(), names[1]);
      await page.locator(".dimensioner-test").click();
      const answer = page.locator(`.dimensioner-answer[data-state="good"]`);
      await answer.waitFor();
      const said = (await answer.textContent()) ?? "";
      for (const name of names) {
        assert.ok(said.includes(name), name.slice(0, 40));
      }
      assert.equal(await answer.locator("img, script, svg").count(), 0);
      await closeDialog(page, "cancel", "config");
    }));

  it("in the list of devices to choose from", () =>
    editors.run(async ({ page }) => {
      await openDialog(page, "trigger");
      await page.locator(".dimensioner-pick").click();
      const lines = page.locator(".dimensioner-picker option");
      await lines.first().waitFor();
      assert.equal(await lines.count(), names.length);
      for (const [index, name] of names.entries()) {
        const line = (await lines.nth(index).textContent()) ?? "";
        assert.ok(line.startsWith(`${name} · HACK${1000 + index}`), line.slice(0, 60));
      }
      assert.equal(await page.locator(".dimensioner-picker :is(img, script, svg)").count(), 0);
      await page.keyboard.press("Escape");
      for (const text of names.slice(0, 4)) {
        await fill(page, "deviceReference", { type: "str", value: text });
      }
      await closeDialog(page, "cancel");
    }));

  it("in the preview of an image that is more than one", () =>
    editors.run(async ({ page, nodeRed }) => {
      await nodeRed.adminFetch("/inject/go-image", { method: "POST" });
      await page.waitForFunction(`RED.nodes.node("image").status?.text?.startsWith("received")`);
      await openDialog(page, "image");
      await page.locator(".dimensioner-form .dimensioner-preview").getByText("2.1 MB").waitFor();
      await closeDialog(page, "cancel");
      const kept = await nodeRed.adminFetch("/dimensioner-fetch-image/image/preview");
      assert.equal(kept.headers.get("x-content-type-options"), "nosniff");
      assert.match(kept.headers.get("content-security-policy") ?? "", /sandbox/);
    }));
});
