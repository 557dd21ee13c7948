import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";
import { editorsOfSuite } from "./open-editors.ts";
import {
  closeDialog,
  dragFromPalette,
  faultsOfDialog,
  fill,
  openConfigDialog,
  openDialog,
  problemOf,
  savedProperties,
  shownProperties,
} from "./dialog.ts";
import { defaultsOf } from "./sources.ts";
import { nodeRedMajor } from "../support/node-red.ts";

const flows = [
  { id: "tab", type: "tab", label: "Fleet" },
  { id: "device", type: "dimensioner-device", name: "Dock 3", address: "127.0.0.1:9" },
  {
    id: "cloud",
    type: "dimensioner-cloud",
    name: "Our cloud",
    baseUrl: "https://127.0.0.1:9",
    credentials: { token: "t" },
  },
  {
    id: "in",
    z: "tab",
    type: "dimensioner-transaction-in",
    path: "stored",
    x: 600,
    y: 400,
    wires: [[]],
    credentials: { secret: "s" },
  },
];

async function visible(page: Page, properties: readonly string[], prefix = "node"): Promise<string[]> {
  const shown = await Promise.all(
    properties.map((property) =>
      page.locator(`.form-row:has(> * > #${prefix}-input-${property})`).isVisible(),
    ),
  );
  return properties.filter((_property, index) => shown[index]);
}

describe(`the dialogs of nodes that send without an input, in Node-RED ${nodeRedMajor}`, () => {
  const editors = editorsOfSuite(flows);

  it("transaction in: shows the address to register, and explains what is wrong", () =>
    editors.run(async ({ page }) => {
      const id = await dragFromPalette(page, "dimensioner-transaction-in", 300, 60);
      await openDialog(page, id);
      assert.equal(await page.locator("#node-input-path").inputValue(), "dimensioner/transaction");
      await fill(page, "path", "/");
      assert.match(await problemOf(page, "path"), /Enter a path|empty/);
      assert.match(await problemOf(page, "secret"), /Enter the secret/);
      assert.deepEqual(await visible(page, ["header", "secret"]), ["header", "secret"]);
      assert.deepEqual(await faultsOfDialog(page), []);

      await fill(page, "path", "/in/:id");
      assert.match(await problemOf(page, "path"), /letters, digits/);
      await fill(page, "path", "/dock/in/");
      assert.equal(await problemOf(page, "path"), "");
      const address = page.locator(".dimensioner-webhook-address");
      assert.match((await address.textContent()) ?? "", /http:\/\/127\.0\.0\.1:\d+\/dock\/in$/);
      await page
        .getByText(/^The cloud cannot reach 127\.0\.0\.1 from the internet\. Make this path/)
        .waitFor();
      await fill(page, "header", "no header");
      assert.match(await problemOf(page, "header"), /valid header name/);
      await fill(page, "secretIn", { choose: "path" });
      assert.match((await address.textContent()) ?? "", /\/dock\/in\/<secret>$/);
      assert.deepEqual(await visible(page, ["header", "secret"]), ["secret"]);
      await fill(page, "queueLimit", "0");
      assert.match(await problemOf(page, "queueLimit"), /1 or more/);
      await fill(page, "queueLimit", "50");
      await fill(page, "secret", "never-again-in-the-browser");
      await fill(page, "onlyOk", true);
      assert.deepEqual(await faultsOfDialog(page), []);
      await closeDialog(page, "ok");

      const saved = await savedProperties(page, id);
      const expected = { path: "/dock/in/", secretIn: "path", queueLimit: "50", onlyOk: true };
      for (const [property, value] of Object.entries({
        ...(await defaultsOf("transaction-in")),
        ...expected,
        header: "no header",
      })) {
        assert.equal(String(saved[property]), String(value), property);
      }
      assert.equal(await page.evaluate(`RED.nodes.node("${id}").valid`), true);
      assert.equal(
        await page.evaluate(`RED.utils.getNodeLabel(RED.nodes.node("${id}"))`),
        "transaction in: /dock/in",
      );
      assert.equal(await page.evaluate(`RED.nodes.node("${id}").inputs`), 1);

      await openDialog(page, id);
      const shown = await shownProperties(page, id);
      assert.deepEqual([shown["path"], shown["queueLimit"]], ["/dock/in/", "50"]);
      assert.equal(await page.locator("#node-input-secret").inputValue(), "never-again-in-the-browser");
      await fill(page, "secretIn", { choose: "none" });
      assert.deepEqual(await visible(page, ["header", "secret"]), []);
      await page.locator("[data-choice=none]").waitFor({ state: "visible" });
      await closeDialog(page, "cancel");
      const exported = await page.evaluate(
        `JSON.stringify(RED.nodes.createExportableNodeSet([RED.nodes.node("${id}")]))`,
      );
      assert.ok(!String(exported).includes("never-again"));
    }));

  it("transaction in: shows what the cloud posts, and why a post is refused", () =>
    editors.run(async ({ page, nodeRed }) => {
      const post = (secret: string, body: object): Promise<Response> =>
        fetch(`${nodeRed.url}/stored`, {
          method: "POST",
          headers: { "content-type": "application/json", "x-webhook-secret": secret },
          body: JSON.stringify(body),
        });
      await openDialog(page, "in");
      const answer = page.locator(".dimensioner-next");
      const next = async (secret: string, body: object): Promise<string> => {
        const asked = page.waitForRequest(/\/dimensioner-transaction-in\/in\/next$/);
        await page.locator(".dimensioner-wait").click();
        await asked;
        await page.getByText("Waiting for a record for up to a minute.").waitFor();
        // The request may be on its way when the first post comes, and each post is another record.
        for (let number = 0; (await answer.getAttribute("data-state")) === "busy"; number++) {
          await post(secret, { ...body, transactionId: `first-${number}` });
        }
        return answer.innerText();
      };
      const record = { transactionReference: "ORDER-1 <b>", errorCode: 0, length: 10, width: 11, height: 12 };
      assert.match(await next("wrong", record), /its secret is wrong\. Enter the same secret/);
      const said = await next("s", record);
      assert.match(said, /^This record has come, and was sent into the flow:/);
      assert.match(said, /"transactionReference": "ORDER-1 <b>"/);
      assert.deepEqual(await faultsOfDialog(page), []);
      await closeDialog(page, "cancel");

      const id = await dragFromPalette(page, "dimensioner-transaction-in", 300, 260);
      await openDialog(page, id);
      await page.locator(".dimensioner-wait").click();
      await page.getByText("Deploy this node first.").waitFor();
      await closeDialog(page, "cancel");
    }));

  it("transaction in: warns of a missing secret before its dialog was ever opened", () =>
    editors.run(async ({ page }) => {
      const isValid = (id: string): Promise<boolean> =>
        page.evaluate<boolean>(`RED.nodes.node("${id}").valid`);
      const triangle = (id: string): Locator => page.locator(`[id="${id}"] .red-ui-flow-node-error`).first();
      assert.equal(await isValid("in"), true, "its secret is stored, and the editor has not asked for it");

      const id = await dragFromPalette(page, "dimensioner-transaction-in", 300, 160);
      await triangle(id).waitFor({ state: "visible" });
      const errors = await page.evaluate<string[]>(`RED.nodes.node("${id}").validationErrors`);
      assert.match(errors.join(), /^Secret value: Enter the secret/);
      await openDialog(page, id);
      assert.equal(await problemOf(page, "secretIn"), "");
      await closeDialog(page, "cancel");
      assert.equal(await isValid(id), false);

      await openDialog(page, id);
      await fill(page, "secretIn", { choose: "none" });
      await closeDialog(page, "ok");
      await triangle(id).waitFor({ state: "hidden" });
      assert.equal(await isValid(id), true);

      await openDialog(page, id);
      await fill(page, "secretIn", { choose: "header" });
      await fill(page, "secret", "of this node");
      await closeDialog(page, "ok");
      await triangle(id).waitFor({ state: "hidden" });
      assert.equal(await isValid(id), true);
    }));

  it("transaction in: copies its address, and makes a secret that nobody guesses", () =>
    editors.run(async ({ page, nodeRed }) => {
      const id = await dragFromPalette(page, "dimensioner-transaction-in", 300, 260);
      await openDialog(page, id);
      // The clipboard is the same for both browsers: what each of them copies is taken from its own event.
      await page.evaluate(
        `document.addEventListener("copy", () => { window.copied = document.activeElement.value; })`,
      );
      const copied = (): Promise<string> => page.evaluate<string>("window.copied");
      await page.locator(".dimensioner-copy").press("Enter");
      await page.getByText("Copied.", { exact: true }).waitFor();
      assert.equal(await copied(), `${nodeRed.url}/dimensioner/transaction`);

      const secrets = new Set<string>();
      for (let press = 0; press < 2; press++) {
        await page.locator(".dimensioner-generate").press("Enter");
        const secret = await page.locator("#node-input-secret").inputValue();
        assert.match(secret, /^[0-9a-f]{64}$/);
        assert.equal(await copied(), secret);
        secrets.add(secret);
      }
      assert.equal(secrets.size, 2);
      assert.equal(await problemOf(page, "secret"), "");
      await page.getByText("Generated and copied.").waitFor();

      await fill(page, "secretIn", { choose: "path" });
      await page.locator(".dimensioner-copy").click();
      assert.equal(await copied(), `${nodeRed.url}/dimensioner/transaction/${[...secrets][1]}`);
      assert.deepEqual(await faultsOfDialog(page), []);
      await closeDialog(page, "cancel");
    }));

  it("device list: asks for seconds of silence only where changes are wanted", () =>
    editors.run(async ({ page }) => {
      const id = await dragFromPalette(page, "dimensioner-device-list", 300, 160);
      await openDialog(page, id);
      assert.equal(await problemOf(page, "cloud"), "", "the only one is chosen");
      assert.deepEqual(await visible(page, ["silentAfter"]), []);
      await fill(page, "cloud", { choose: "cloud" });
      await fill(page, "emit", { choose: "split" });
      await fill(page, "changesOnly", true);
      assert.deepEqual(await visible(page, ["silentAfter"]), ["silentAfter"]);
      await fill(page, "silentAfter", "soon");
      assert.match(await problemOf(page, "silentAfter"), /number/);
      await fill(page, "silentAfter", "600");
      assert.deepEqual(await faultsOfDialog(page), []);
      await closeDialog(page, "ok");
      const { cloud, emit, changesOnly, silentAfter } = await savedProperties(page, id);
      assert.deepEqual([cloud, emit, changesOnly, silentAfter], ["cloud", "split", true, "600"]);
      assert.equal(await page.evaluate(`RED.nodes.node("${id}").valid`), true);
    }));

  it("device and cloud: take a check interval, and a gateway has none", () =>
    editors.run(async ({ page }) => {
      const prefix = "#node-config-input-";
      for (const id of ["cloud", "device"]) {
        await openConfigDialog(page, id);
        await fill(page, "checkInterval", "often", prefix);
        assert.match(await problemOf(page, "checkInterval", prefix), /number/);
        await fill(page, "checkInterval", "30", prefix);
        assert.deepEqual(await faultsOfDialog(page), []);
        if (id === "device") {
          await page.locator("[data-choice=newer]").waitFor({ state: "visible" });
          await fill(page, "generation", { choose: "gateway" }, prefix);
          await page.locator("[data-choice=gateway]").waitFor({ state: "visible" });
          assert.deepEqual(await visible(page, ["checkInterval"], "node-config"), []);
          await fill(page, "generation", { choose: "newer" }, prefix);
        }
        await closeDialog(page, "ok", "config");
        assert.equal(await page.evaluate(`RED.nodes.node("${id}").checkInterval`), "30");
      }
    }));
});
