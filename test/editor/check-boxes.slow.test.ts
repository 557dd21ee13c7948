import assert from "node:assert/strict";
import { editorsOfSuite } from "./open-editors.ts";
import {
  closeDialog,
  faultsOfDialog,
  fill,
  openConfigDialog,
  openDialog,
  problemOf,
  savedProperties,
  shownProperties,
} from "./dialog.ts";
import { nodeRedMajor } from "../support/node-red.ts";

const fromEnvironment = "${PRUNE_DRY_RUN}";

describe(`a check box whose value is text, in Node-RED ${nodeRedMajor}`, () => {
  const prune = { z: "tab", type: "dimensioner-evidence", store: "store", action: "prune", by: "all" };
  const editors = editorsOfSuite([
    { id: "tab", type: "tab", label: "Dock" },
    { id: "store", type: "dimensioner-store", name: "Evidence", folder: "/packages", folderType: "str" },
    {
      id: "cloud",
      type: "dimensioner-cloud",
      name: "Hub",
      baseUrl: "http://cloud.example",
      allowHttp: "${ALLOW_HTTP_OF_NOBODY}",
    },
    { ...prune, id: "variable", dryRun: fromEnvironment, x: 200, y: 80, wires: [[]] },
    { ...prune, id: "yes", dryRun: "true", x: 200, y: 140, wires: [[]] },
    { ...prune, id: "no", dryRun: "false", x: 200, y: 200, wires: [[]] },
    { ...prune, id: "perhaps", dryRun: "perhaps", x: 200, y: 260, wires: [[]] },
    { ...prune, id: "blank", dryRun: "", x: 200, y: 320, wires: [[]] },
  ]);

  it("shows the name of an environment variable, and saves it as it is", () =>
    editors.run(async ({ page }) => {
      await openDialog(page, "variable");
      assert.equal((await shownProperties(page, "variable"))["dryRun"], fromEnvironment);
      assert.equal(await page.getByLabel("Only list what would be deleted").inputValue(), fromEnvironment);
      assert.equal(await problemOf(page, "dryRun"), "");
      assert.deepEqual(await faultsOfDialog(page), []);
      await closeDialog(page, "ok");
      assert.equal((await savedProperties(page, "variable"))["dryRun"], fromEnvironment);
    }));

  it("is checked as the runtime reads it", () =>
    editors.run(async ({ page }) => {
      for (const [id, isChecked] of [
        ["yes", true],
        ["no", false],
        ["blank", true],
      ] as const) {
        await openDialog(page, id);
        assert.equal((await shownProperties(page, id))["dryRun"], isChecked, id);
        await closeDialog(page, "ok");
        assert.equal((await savedProperties(page, id))["dryRun"], isChecked, id);
      }
    }));

  it("explains a value that is neither true nor false, and saves no other one", () =>
    editors.run(async ({ page }) => {
      const errors = await page.evaluate(`RED.nodes.node("perhaps").validationErrors`);
      assert.deepEqual(errors, ["Only list what would be deleted: “perhaps” is not one of true, false."]);
      await openDialog(page, "perhaps");
      assert.equal(await problemOf(page, "dryRun"), "“perhaps” is not one of true, false.");
      await closeDialog(page, "ok");
      assert.equal((await savedProperties(page, "perhaps"))["dryRun"], "perhaps");
    }));

  it("is read from the environment by Test connection, and shows an address with http as possible", () =>
    editors.run(async ({ page }) => {
      await openConfigDialog(page, "cloud");
      const config = "#node-config-input-";
      assert.equal(await problemOf(page, "baseUrl", config), "");
      await fill(page, "token", "token", config);
      await page.locator(".dimensioner-test").click();
      const line = page.locator('.dimensioner-answer:not([data-state="busy"]) .dimensioner-answer-line');
      await line.waitFor();
      assert.match((await line.textContent()) ?? "", /“Allow http.*” is not valid:.*ALLOW_HTTP_OF_NOBODY/);
      await closeDialog(page, "ok", "config");
      assert.equal((await savedProperties(page, "cloud"))["allowHttp"], "${ALLOW_HTTP_OF_NOBODY}");
    }));
});
