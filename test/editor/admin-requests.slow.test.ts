import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { saysRefused, startServer, type RawServer } from "../support/servers.ts";
import { editorsOfSuite } from "./open-editors.ts";
import {
  closeDialog,
  dragFromPalette,
  faultsOfDialog,
  fill,
  openConfigDialog,
  openDialog,
  savedProperties,
} from "./dialog.ts";
import { nodeRedMajor } from "../support/node-red.ts";

const config = "#node-config-input-";
const token = "never-again-in-the-browser";
/** Where a name that is shown as anything but text would leave a trace. */
const hostile = `<img src="x" onerror="dimensionerHacked=1">$t(palette)`;

const answerOf = (page: Page): Locator => page.locator(".dimensioner-answer");

/** What stands below the button once it is in this state. */
async function said(page: Page, state: "good" | "warning" | "bad"): Promise<string> {
  const answer = page.locator(`.dimensioner-answer[data-state="${state}"]`);
  await answer.waitFor();
  return (await answer.textContent()) ?? "";
}

describe(`requests of dialogs to a device or the cloud, in Node-RED ${nodeRedMajor}`, () => {
  let simulator: Simulator;
  let stranger: RawServer;

  before(async () => {
    simulator = await startSimulator({ token, cloudDevices: 999 });
    const body = JSON.stringify([
      { id: "1", name: hostile, registrationCode: "HACK2345", lastHeartbeatUtc: "never" },
    ]);
    // It answers a list of devices, and leaves everything else without an answer.
    stranger = await startServer(({ target }, socket) => {
      if (target === "/api/deviceclients") {
        const headers = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
        socket.write(`HTTP/1.1 200 OK\r\n${headers}\r\n${body}`);
      }
    });
  });
  after(async () => {
    await stranger?.close();
    await simulator?.close();
  });
  // Before the dialogs are closed, whose content is searched as well.
  afterEach(() =>
    editors.run(async ({ page }) => {
      assert.equal((await page.content()).includes(token), false);
      assert.equal(await page.evaluate("window.dimensionerHacked"), undefined);
      assert.equal(simulator.newer.actions.measures + simulator.earlier.actions.measures, 0);
    }),
  );
  const editors = editorsOfSuite(() => [
    { id: "tab", type: "tab", label: "Dock" },
    { id: "device", type: "dimensioner-device", name: "Dock 3", address: simulator.newer.origin },
    {
      id: "cloud",
      type: "dimensioner-cloud",
      name: "Our cloud",
      baseUrl: simulator.cloud.origin,
      credentials: { token },
    },
    {
      id: "other",
      type: "dimensioner-cloud",
      name: "Stranger",
      baseUrl: stranger.origin,
      credentials: { token: "x" },
    },
  ]);

  it("device: tests what stands in the dialog, by keyboard, and forgets the answer with the next change", () =>
    editors.run(async ({ page }) => {
      await openConfigDialog(page, "device");
      const button = page.locator(".dimensioner-test");
      await button.focus();
      await page.keyboard.press("Enter");
      assert.match(await said(page, "good"), /answers as a newer device, in \d+ ms\./);
      assert.equal(await button.evaluate((element) => element === element.ownerDocument.activeElement), true);
      assert.deepEqual(await faultsOfDialog(page), []);

      await fill(page, "generation", { choose: "earlier" }, config);
      assert.equal(await answerOf(page).textContent(), "");
      await button.click();
      assert.match(await said(page, "bad"), /but as a newer device/);
      await fill(page, "address", "192.168.1", config);
      assert.equal(await answerOf(page).textContent(), "");
      await button.click();
      assert.match(await said(page, "bad"), /four numbers/);
      await fill(page, "address", "127.0.0.1:9", config);
      await button.click();
      assert.match(
        await said(page, "bad"),
        new RegExp(`^No connection to 127\\.0\\.0\\.1:9: ${saysRefused}`),
      );
      await fill(page, "generation", { choose: "gateway" }, config);
      await fill(page, "address", simulator.newer.origin, config);
      await button.click();
      assert.match(await said(page, "warning"), /accepts connections/);
      assert.deepEqual(await faultsOfDialog(page), []);
      await closeDialog(page, "cancel", "config");
    }));

  it("device: is busy until there is an answer, and a change ends the question", () =>
    editors.run(async ({ page, major }) => {
      // Each editor has a machine of its own that never answers.
      const silent = await startServer(() => undefined);
      try {
        await openConfigDialog(page, "device");
        await fill(page, "address", silent.origin, config);
        const button = page.locator(".dimensioner-test");
        const asked = silent.next();
        await button.click();
        await asked;
        assert.equal(await answerOf(page).getAttribute("data-state"), "busy");
        assert.equal(await button.getAttribute("aria-disabled"), "true");
        await button.click({ force: true });
        await fill(page, "address", `127.0.0.1:${major}`, config);
        await silent.allClosed();
        assert.equal(await answerOf(page).textContent(), "");
        assert.equal(await button.getAttribute("aria-disabled"), null);
        assert.equal(silent.requests.length, 1);
        await closeDialog(page, "cancel", "config");
      } finally {
        await silent.close();
      }
    }));

  it("cloud: takes the stored token at the deployed address alone, and shows the names of devices as text", () =>
    editors.run(async ({ page }) => {
      await openConfigDialog(page, "cloud");
      const button = page.locator(".dimensioner-test");
      await button.click();
      const text = await said(page, "good");
      assert.match(text, /accepts the token\. Registered devices: 1000/);
      assert.match(text, /Dock 1, Dock 2, .*, …$/);
      assert.deepEqual(await faultsOfDialog(page), []);
      await fill(page, "baseUrl", stranger.origin, config);
      await button.click();
      assert.match(await said(page, "bad"), /paste the token itself/);
      await fill(page, "token", "typed", config);
      await button.click();
      assert.ok((await said(page, "good")).includes(hostile));
      assert.deepEqual(await faultsOfDialog(page), []);
      await fill(page, "baseUrl", simulator.cloud.origin, config);
      await button.click();
      assert.match(await said(page, "bad"), /rejected the token/);
      await fill(page, "token", "", config);
      await button.click();
      assert.match(await said(page, "bad"), /Paste the token from/);
      await closeDialog(page, "cancel", "config");
      const { requests } = stranger;
      assert.ok(requests.every(({ headers }) => headers["authorization"] === "Bearer typed"));
    }));

  it("device: takes what clouds call it from their lists, and its name where it has none", () =>
    editors.run(async ({ page }) => {
      await openConfigDialog(page, "device");
      await fill(page, "name", "", config);
      await fill(page, "cloudIds", "own-id", config);
      const panel = page.locator(".dimensioner-picker");
      await page.locator(".dimensioner-pick").click();
      // Those of both clouds.
      await panel.getByText("500 of 1001 devices").waitFor();
      await page.keyboard.type("dock 77");
      await panel.getByText("11 of 1001 devices").waitFor();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("ArrowUp");
      await page.keyboard.press("Enter");
      const device = simulator.cloud.devices.find(({ name }) => name === "Dock 77");
      const field = page.locator("#node-config-input-cloudIds");
      assert.equal(await field.inputValue(), `own-id, ${device?.code}, ${device?.id}`);
      assert.equal(await page.locator("#node-config-input-name").inputValue(), "Dock 77");
      await page.locator(".dimensioner-pick").click();
      await panel.locator("option", { hasText: device?.code ?? "" }).click();
      assert.equal(await field.inputValue(), `own-id, ${device?.code}, ${device?.id}`, "not twice");
      assert.deepEqual(await faultsOfDialog(page), []);
      await closeDialog(page, "cancel", "config");
    }));

  it("remote trigger: offers the registered devices, a thousand of them, and stays open to free text", () =>
    editors.run(async ({ page }) => {
      const id = await dragFromPalette(page, "dimensioner-remote-trigger", 300, 100);
      await openDialog(page, id);
      const open = page.locator(".dimensioner-pick");
      const panel = page.locator(".dimensioner-picker");
      await open.focus();
      await page.keyboard.press("Enter");
      await panel.getByText("Select a cloud and deploy it.").waitFor();
      assert.equal(await open.getAttribute("aria-expanded"), "true");
      await fill(page, "cloud", { choose: "cloud" });
      await panel.waitFor({ state: "hidden" });

      await fill(page, "deviceReference", { type: "flow", value: "dock" });
      await open.click();
      await panel.getByText("500 of 1000 devices").waitFor();
      assert.deepEqual(await faultsOfDialog(page), []);
      await page.keyboard.type("dock 77");
      const lines = panel.locator("option");
      await panel.getByText("11 of 1000 devices").waitFor();
      const first = simulator.cloud.devices.find(({ name }) => name === "Dock 77");
      assert.match(
        (await lines.first().textContent()) ?? "",
        new RegExp(`^Dock 77 · ${first?.code} · (?:now|.* ago)$`),
      );
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await panel.waitFor({ state: "hidden" });
      const second = simulator.cloud.devices.find(({ name }) => name === "Dock 770");
      assert.equal(await page.locator("#node-input-deviceReference-value").inputValue(), second?.code);

      await open.click();
      await panel.getByText("500 of 1000 devices").waitFor();
      await page.keyboard.type(first?.code.toLowerCase() ?? "");
      await lines.first().click();
      await panel.waitFor({ state: "hidden" });
      await open.click();
      await panel.getByText("500 of 1000 devices").waitFor();
      await page.keyboard.press("Escape");
      await panel.waitFor({ state: "hidden" });
      await closeDialog(page, "ok");
      const { deviceReference, deviceReferenceType } = await savedProperties(page, id);
      assert.deepEqual([deviceReference, deviceReferenceType], [first?.code, "str"]);
      const label = (): Promise<string> =>
        page.evaluate<string>(`RED.utils.getNodeLabel(RED.nodes.node("${id}"))`);
      assert.equal(await label(), "start video: Dock 77");
      await openDialog(page, id);
      await fill(page, "deviceReference", { type: "str", value: "ABCD2345" });
      await closeDialog(page, "ok");
      assert.equal(await label(), "start video: ABCD2345");

      await openDialog(page, id);
      await fill(page, "cloud", { choose: "other" });
      await open.click();
      await lines.first().waitFor();
      assert.equal(await lines.first().textContent(), `${hostile} · HACK2345 · no heartbeat`);
      await closeDialog(page, "cancel");
    }));
});
