import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { longestWaitMs } from "../support/browser.ts";
import { nodeRedMajor, startNodeRed } from "../support/node-red.ts";
import { sharedBrowser } from "../support/shared-browser.ts";
import { closeDialog, openConfigDialog, openDialog } from "./dialog.ts";

const password = "correct horse";
const users = [
  {
    username: "admin",
    password: "$2b$04$VlnIA//DFtB4tjnKwlixKOIiVj11q..TJwaFPU1Nkx.WxCpxo.DTy",
    permissions: "*",
  },
];

describe("requests of dialogs in an editor with a login", () => {
  let simulator: Simulator;
  let browser: Browser;

  before(async () => {
    simulator = await startSimulator();
    browser = await sharedBrowser();
  });
  after(() => simulator?.close());

  it(`carries the login: the test, the picker and the last image (Node-RED ${nodeRedMajor})`, async () => {
    const userDir = await mkdtemp(join(tmpdir(), "logged-in-"));
    const place = (x: number, y: number): object => ({ z: "tab", x, y });
    const flows = [
      { id: "tab", type: "tab", label: "Dock" },
      { id: "device", type: "dimensioner-device", name: "Dock 3", address: simulator.newer.origin },
      { id: "cloud", type: "dimensioner-cloud", name: "Our cloud", baseUrl: simulator.cloud.origin },
      { id: "go", ...place(100, 100), type: "inject", props: [], once: true, wires: [["measure"]] },
      {
        id: "measure",
        ...place(260, 100),
        type: "dimensioner-measure",
        device: "device",
        wires: [["image"]],
      },
      {
        id: "image",
        ...place(460, 100),
        type: "dimensioner-fetch-image",
        device: "device",
        preview: true,
        wires: [[]],
      },
      {
        id: "trigger",
        ...place(460, 200),
        type: "dimensioner-remote-trigger",
        cloud: "cloud",
        wires: [[]],
      },
    ];
    await writeFile(join(userDir, "flows.json"), JSON.stringify(flows));
    await writeFile(
      join(userDir, "flows_cred.json"),
      JSON.stringify({ cloud: { token: simulator.cloud.token } }),
    );
    const nodeRed = await startNodeRed({
      major: nodeRedMajor,
      userDir,
      settings: { adminAuth: { type: "credentials", users } },
    });
    const context = await browser.newContext({ locale: "en-US", viewport: { width: 1280, height: 900 } });
    try {
      context.setDefaultTimeout(longestWaitMs);
      const page = await context.newPage();
      const refused: string[] = [];
      await page.goto(nodeRed.url);
      await page.locator("#node-dialog-login-username").fill("admin");
      await page.locator("#node-dialog-login-password").fill(password);
      page.on("response", (response) => response.status() >= 400 && refused.push(response.url()));
      await page.locator("#node-dialog-login-submit").click();
      await page.locator("#red-ui-header-button-deploy").waitFor({ state: "visible" });
      await page.locator("#red-ui-loading-progress").waitFor({ state: "hidden" });

      await openConfigDialog(page, "device");
      await page.locator(".dimensioner-test").click();
      await page.locator(`.dimensioner-answer[data-state="good"]`).waitFor();
      await closeDialog(page, "cancel", "config");
      await openDialog(page, "trigger");
      await page.locator(".dimensioner-pick").click();
      await page.locator(".dimensioner-picker option").first().waitFor();
      await closeDialog(page, "cancel");
      await openDialog(page, "image");
      await page.locator(".dimensioner-form .dimensioner-preview img").waitFor();
      assert.deepEqual(refused, []);
    } finally {
      await context.close();
      await nodeRed.stop();
      await rm(userDir, { recursive: true, force: true });
    }
  });
});
