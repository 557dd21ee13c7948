import assert from "node:assert/strict";
import type { Page } from "playwright-core";
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

const field = "#dimensioner-weight-trial";

/** What the example of the dialog says. */
async function lines(page: Page): Promise<string[]> {
  const text = await page.locator(".dimensioner-trial").innerText();
  return text.split("\n").filter((line) => line !== "");
}

describe(`the dialog of billable weight, in Node-RED ${nodeRedMajor}`, () => {
  const editors = editorsOfSuite([{ id: "tab", type: "tab", label: "Dock" }]);

  it("shows what each rule makes of a parcel, at once, and where it comes from", () =>
    editors.run(async ({ page }) => {
      const id = await dragFromPalette(page, "dimensioner-billable-weight", 300, 60);
      await openDialog(page, id);
      assert.deepEqual(await lines(page), [
        "12 × 9 × 7 in = 756 in³, ÷ 139 = 5.44, rounded up to 6 lb",
        "Since 8/18/2025. Source: supplychaindive.com, news 756929; atlanticpkg.com, post 16059",
      ]);
      await fill(page, "preset", { choose: "dhl-express" });
      assert.equal(await page.locator(field).inputValue(), "40 × 30 × 20 cm, 2 kg");
      assert.deepEqual(await lines(page), [
        "40 × 30 × 20 cm = 24000 cm³, ÷ 5000 = 4.8, rounded up to 5 kg",
        "Source: dhl.com, volumetric weight",
        "Not verified: compare it with your contract.",
      ]);
      await fill(page, "preset", { choose: "usps" });
      assert.equal((await lines(page))[0], "19 × 12 × 10 in = 2280 in³, ÷ 139 = 16.4, rounded up to 17 lb");
      await page.locator(field).fill("30.48 x 30.48 x 30.48 cm, 1.2 kg");
      assert.deepEqual((await lines(page)).slice(0, 2), [
        "12 × 12 × 12 in = 1728 in³, not over 1728; actual weight 2.65, rounded up to 3 lb",
        "The size counts only above 1728 in³.",
      ]);
      assert.equal(
        (await lines(page)).at(-1),
        "Measured before 7/12/2026: 12 × 12 × 12 in = 1728 in³, not over 1728; actual weight 2.65, rounded up to 3 lb. " +
          "Source: Domestic Mail Manual; postaladvocate.com, USPS rate change of June 2019",
      );
      await fill(page, "preset", { choose: "ups" });
      await fill(page, "extras", "light: weight > 2 lb");
      await page.locator(field).fill("49 × 10 × 10 in, 3 lb");
      assert.deepEqual((await lines(page)).slice(1, 3), [
        "Over the limit “additional handling”: 49 in > 48 in",
        "Over the limit “light”: 3 lb > 2 lb",
      ]);
      await page.locator(field).fill("<img src=x>");
      assert.deepEqual(await lines(page), ["Write the parcel like this: 40 × 30 × 20 cm, 2 kg"]);
      await fill(page, "preset", { choose: "msg" });
      await fill(page, "extras", "");
      await page.locator(field).fill("40 × 30 × 20 cm, 2 kg");
      const all = await lines(page);
      assert.equal(all.length, 7);
      assert.equal(
        all.find((line) => line.startsWith("DPD")),
        "DPD (regional): 40 × 30 × 20 cm = 24000 cm³, ÷ 4000 = 6 kg",
      );
      assert.deepEqual(await faultsOfDialog(page), []);
      await closeDialog(page, "ok");
    }));

  it("shows the rule of the day here, which is not yet tomorrow in an American evening", () =>
    editors.run(async ({ page }) => {
      const session = await page.context().newCDPSession(page);
      await session.send("Emulation.setTimezoneOverride", { timezoneId: "America/New_York" });
      const real = await page.evaluateHandle(() => {
        const Real = Date;
        window.Date = new Proxy(Real, {
          construct: (target, given: number[]) =>
            Reflect.construct(target, given.length === 0 ? [Real.UTC(2026, 6, 12, 2)] : given) as object,
        });
        return Real;
      });
      try {
        const id = await dragFromPalette(page, "dimensioner-billable-weight", 300, 60);
        await openDialog(page, id);
        await fill(page, "preset", { choose: "usps" });
        assert.equal((await lines(page))[0], "18 × 12 × 9 in = 1944 in³, ÷ 166 = 11.71, rounded up to 12 lb");
        await closeDialog(page, "ok");
      } finally {
        await real.evaluate((Real) => void (window.Date = Real));
        await session.send("Emulation.setTimezoneOverride", { timezoneId: "" });
      }
    }));

  it("takes a rule of the table over into the custom rule, which can then be changed", () =>
    editors.run(async ({ page }) => {
      const id = await dragFromPalette(page, "dimensioner-billable-weight", 300, 160);
      await openDialog(page, id);
      await fill(page, "preset", { choose: "usps" });
      await page.locator(".dimensioner-copy").click();
      assert.equal(await page.locator("#node-input-preset").inputValue(), "own");
      assert.equal(await page.locator("#node-input-divisor").inputValue(), "139");
      assert.equal(await page.locator(".dimensioner-copy").isVisible(), false);
      await fill(page, "divisor", "0");
      assert.match(await problemOf(page, "divisor"), /above 0/);
      assert.deepEqual(await lines(page), []);
      await fill(page, "divisor", "166");
      await page.locator(field).fill("18.4 × 12 × 9.1 in, 3.2 lb");
      assert.deepEqual(await lines(page), ["19 × 12 × 10 in = 2280 in³, ÷ 166 = 13.73, rounded up to 14 lb"]);
      await fill(page, "weight", { choose: "none" });
      await page.locator(field).fill("12 × 12 × 12 in");
      assert.deepEqual(await lines(page), ["There is nothing to bill without a weight."]);
      await closeDialog(page, "ok");
      const { preset, unit, divisor, sideRounding, productRounding, threshold } = await savedProperties(
        page,
        id,
      );
      assert.deepEqual(
        [preset, unit, divisor, sideRounding, productRounding, threshold],
        ["own", "in-lb", "166", "up", "1", "1728"],
      );
    }));

  it("explains what is wrong with more limits", () =>
    editors.run(async ({ page }) => {
      const id = await dragFromPalette(page, "dimensioner-billable-weight", 300, 260);
      await openDialog(page, id);
      await fill(page, "extras", "heavy");
      assert.equal(
        await problemOf(page, "extras"),
        "“heavy” must be written like “heavy: weight > 31.5 kg”.",
      );
      await fill(page, "extras", "heavy: weight > 31.5 kg;");
      assert.equal(await problemOf(page, "extras"), "");
      await fill(page, "weight", { choose: "given" });
      await fill(page, "weightValue", "");
      assert.match(await problemOf(page, "weightValue"), /Enter where the weight is/);
    }));
});
