import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { showyTexts } from "../support/hostile.ts";
import { editorsOfSuite } from "./open-editors.ts";
import {
  closeDialog,
  dragFromPalette,
  faultsOfDialog,
  fill,
  openDialog,
  problemOf,
  savedProperties,
} from "./dialog.ts";
import { nodeRedMajor } from "../support/node-red.ts";

/** Types a code into “Try it” as a scanner does that types like a keyboard, and returns what the dialog shows then. */
async function scan(page: Page, code: string): Promise<string[]> {
  const field = page.locator("#dimensioner-scan-trial");
  await field.fill(code);
  await page.evaluate(`$(".dimensioner-trial").removeAttr("data-state")`);
  await field.press("Enter");
  const answer = page.locator(".dimensioner-trial[data-state]");
  await answer.waitFor();
  return (await answer.innerText()).split("\n").filter((line) => line !== "");
}

describe(`the dialog of scan, in Node-RED ${nodeRedMajor}`, () => {
  const editors = editorsOfSuite([{ id: "tab", type: "tab", label: "Dock" }]);

  it("shows how a code is read with the settings as they stand, and stays open at Enter", () =>
    editors.run(async ({ page }) => {
      const id = await dragFromPalette(page, "dimensioner-scan", 300, 60);
      await openDialog(page, id);
      assert.deepEqual(await scan(page, "]C100123456789012345675330200125089XYZ"), [
        "Reference: 123456789012345675",
        "GS1-128 (]C1)",
        "(00) SSCC: 123456789012345675 ✓",
        "(3302) GROSS WEIGHT (kg): 001250 = 12.5 ✓",
        "(?): 89XYZ ?",
        "Possible tracking number: USPS 20, 00123456789012345675 ✓",
        "Possible tracking number: FedEx, Ground SSCC (18), 123456789012345675 ✗ wrong check digit",
        "Possible tracking number: USPS, Legacy, 00123456789012345675 ✗ wrong check digit",
      ]);
      assert.deepEqual((await scan(page, "VIDEO_START"))[0], "Control code: VIDEO_START");
      const [wrong] = await scan(page, "]C100123456789012345670");
      assert.match(wrong ?? "", /the check digit of SSCC \(00\) is wrong/);
      await fill(page, "which", { choose: "ai" });
      await fill(page, "ai", "3302");
      assert.equal((await scan(page, "]C1001234567890123456753302001250"))[0], "Reference: 001250");
      assert.deepEqual(await faultsOfDialog(page), []);
      await closeDialog(page, "ok");
    }));

  it("says which node goes before it, and opens the examples", () =>
    editors.run(async ({ page }) => {
      const id = await dragFromPalette(page, "dimensioner-scan", 300, 300);
      await openDialog(page, id);
      await page.getByText("Before this node goes the one that receives from your scanner").waitFor();
      assert.deepEqual(await faultsOfDialog(page), []);
      await page.locator(".dimensioner-examples").click();
      const library = page.locator(".red-ui-clipboard-dialog, #red-ui-clipboard-dialog").first();
      await library.getByText("@dimflow/node-red-dimensioner").first().waitFor();
      await page.locator(".ui-dialog-buttonset").getByRole("button", { name: "Cancel" }).first().click();
      await page.locator(".ui-widget-overlay").waitFor({ state: "detached" });
    }));

  it("shows hostile codes as text", () =>
    editors.run(async ({ page }) => {
      const id = await dragFromPalette(page, "dimensioner-scan", 300, 160);
      await openDialog(page, id);
      for (const text of showyTexts.map((one) => one.replace(/[\r\n\t]/g, " ").slice(0, 200))) {
        const [reference] = await scan(page, text);
        assert.ok(reference !== undefined && reference.length > 0, text);
      }
      await scan(page, "(00)<img src=x onerror=dimensionerHacked=1>");
      assert.equal(await page.locator(".dimensioner-trial img").count(), 0);
      assert.equal(await page.evaluate("window.dimensionerHacked"), undefined);
    }));

  it("saves the chosen codes as a list, and explains what is wrong", () =>
    editors.run(async ({ page }) => {
      const id = await dragFromPalette(page, "dimensioner-scan", 300, 260);
      await openDialog(page, id);
      const boxes = page.locator("[role=group] input[type=checkbox]");
      assert.equal(await boxes.count(), 4);
      for (const index of [0, 1, 2, 3]) {
        await boxes.nth(index).uncheck();
      }
      assert.match(await problemOf(page, "symbologies"), /Select at least one/);
      await boxes.nth(0).check();
      await boxes.nth(2).check();
      assert.equal(await problemOf(page, "symbologies"), "");
      await fill(page, "which", { choose: "pattern" });
      assert.match(await problemOf(page, "pattern"), /Enter a regular expression/);
      await fill(page, "pattern", "(?=x)(y)");
      assert.match(await problemOf(page, "pattern"), /look-around/);
      await fill(page, "pattern", "ORDER-(\\d+)");
      assert.equal(await problemOf(page, "pattern"), "");
      await fill(page, "dedupe", "-1");
      assert.match(await problemOf(page, "dedupe"), /milliseconds/);
      await fill(page, "dedupe", "800");
      await closeDialog(page, "ok");
      const { symbologies, which, pattern, dedupe } = await savedProperties(page, id);
      assert.deepEqual([symbologies, which, pattern, dedupe], ["gs1,ean", "pattern", "ORDER-(\\d+)", "800"]);
    }));
});
