import assert from "node:assert/strict";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { openEditors, type Editors } from "./open-editors.ts";
import { closeDialog, fill, openConfigDialog, opened } from "./dialog.ts";
import { defaultsOf, names } from "./sources.ts";
import { nodeRedMajor } from "../support/node-red.ts";

const configs: readonly string[] = ["cloud", "device", "store"];
const actions = names.filter((name) => !configs.includes(name));

/**
 * Serious or critical faults in the open dialog's form. What lies around it is Node-RED's. Only the rules for audio, which the
 * dialogs do not have, and for the orientation of a screen need the files of the page to be loaded before.
 */
function faultsOfForm(page: Page, options: axe.RunOptions = {}): Promise<string[]> {
  const run = JSON.stringify({ resultTypes: ["violations"], preload: false, ...options });
  return page.evaluate<
    string[]
  >(`axe.run($(".dimensioner-form").last()[0], ${run}).then(({ violations }) => violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) =>
      id + ": " + html.slice(0, 160) + failureSummary.split("\\n").slice(1, 3).join(" "))))`);
}

/** The colours of the dialog in the dark theme, which Node-RED 4.1 does not have. */
async function faultsInTheDark(page: Page, major: 4 | 5): Promise<string[]> {
  if (major === 4) {
    return [];
  }
  const light = await textColorOf(page);
  await page.evaluate(`document.documentElement.classList.add("nr-theme-dark")`);
  assert.notEqual(await textColorOf(page), light);
  const faults = await faultsOfForm(page, { runOnly: ["color-contrast"] });
  await page.evaluate(`document.documentElement.classList.remove("nr-theme-dark")`);
  return faults;
}

function textColorOf(page: Page): Promise<string> {
  return page.evaluate(`getComputedStyle($(".dimensioner-form").last()[0]).color`);
}

/** Takes the last of each choice, ticks every box, and asks the other side what can be asked. */
async function unfold(page: Page): Promise<void> {
  await page.evaluate(`(() => {
    const form = $(".dimensioner-form").last();
    for (const select of form.find("select").get()) {
      const last = $(select).find("option[value!=_ADD_]").last();
      if (last.length > 0) { $(select).val(last.val()).trigger("change"); }
    }
    form.find(":checkbox").prop("checked", true).trigger("change");
    form.find("#dimensioner-scan-trial").val("]C10012345678901234567589XYZ");
    form.find(".dimensioner-test, .dimensioner-pick, .dimensioner-try, .dimensioner-wait").trigger("click");
  })()`);
  const said = `[...document.querySelectorAll(".dimensioner-answer, .dimensioner-picker [role=status]")]`;
  await page.waitForFunction(
    `${said}.every((one) => one.textContent !== "" && one.dataset.state !== "busy")`,
  );
}

/** Opens the dialog of a node whose canvas is not in the page. */
async function openDialog(page: Page, id: string): Promise<void> {
  await page.evaluate(`RED.editor.edit(RED.nodes.node("${id}"))`);
  await opened(page, "#dialog-form");
}

async function flows(): Promise<object[]> {
  const nodes = await Promise.all(
    actions.map(async (name, index) => {
      const place = { z: "tab", x: 300, y: 60 + 60 * index, wires: [] };
      return { ...(await defaultsOf(name)), id: name, type: `dimensioner-${name}`, ...place };
    }),
  );
  const device = { id: "device", type: "dimensioner-device", name: "Dock 3", address: "127.0.0.1:9" };
  const cloud = { id: "cloud", type: "dimensioner-cloud", name: "Our cloud", baseUrl: "https://127.0.0.1:9" };
  return [
    { id: "tab", type: "tab", label: "Dock" },
    device,
    { ...cloud, credentials: { token: "t" } },
    { id: "store", type: "dimensioner-store", name: "Evidence" },
    ...nodes,
  ];
}

describe(`the accessibility of the dialogs, by axe-core, in Node-RED ${nodeRedMajor}`, () => {
  let editors: Editors;

  before(async () => {
    editors = await openEditors(await flows());
    await editors.run(async ({ page }) => {
      await page.evaluate(axe.source);
      // The editor's body has no height and hides what flows over: axe-core would take every text for hidden.
      await page.addStyleTag({ content: "html, body { height: 100%; }" });
      // It reads the styles of everything in the page, which takes longer than what it looks for in the dialog.
      await page.evaluate(
        `$("#red-ui-header, #red-ui-palette, #red-ui-sidebar, #red-ui-workspace-chart").detach()`,
      );
    });
  });
  afterEach(() => editors.run(async ({ problems }) => assert.deepEqual(problems, [])));

  for (const name of names) {
    const kind = configs.includes(name) ? "config" : "node";
    it(`${name}: nothing serious, as it opens and unfolded, nor in the dark`, () =>
      editors.run(async ({ page, major }) => {
        await (kind === "config" ? openConfigDialog(page, name) : openDialog(page, name));
        try {
          assert.deepEqual(await faultsOfForm(page), []);
          await unfold(page);
          assert.deepEqual(await faultsOfForm(page), []);
          // Every kind of text is there now.
          assert.deepEqual(await faultsInTheDark(page, major), []);
        } finally {
          await closeDialog(page, "cancel", kind);
        }
      }));
  }

  it("a button without a text of its own is named after its field, and after the type that it shows", () =>
    editors.run(async ({ page }) => {
      await openDialog(page, "measure");
      for (const name of ["Edit: Device", "Add: Device"]) {
        await page.getByRole("button", { name, exact: true }).waitFor();
      }
      const source = "Transaction reference: where the value comes from";
      await page.getByRole("button", { name: `${source}, msg.`, exact: true }).waitFor();
      await fill(page, "transactionReference", { type: "jsonata", value: "1" });
      await page.getByRole("button", { name: `${source}, expression`, exact: true }).waitFor();
      await closeDialog(page, "cancel");
    }));
});
