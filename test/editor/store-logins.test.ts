import assert from "node:assert/strict";
import { editorsOfSuite } from "./open-editors.ts";
import { faultsOfDialog, openConfigDialog } from "./dialog.ts";
import { nodeRedMajor } from "../support/node-red.ts";

describe(`the logins in the dialog of a store, in Node-RED ${nodeRedMajor}`, () => {
  const editors = editorsOfSuite([
    {
      id: "store",
      type: "dimensioner-store",
      name: "Evidence",
      folder: "/packages",
      folderType: "str",
      path: "evidence",
    },
  ]);

  it("get a long password as it was typed, and say of one that is too long that it is", () =>
    editors.run(async ({ page }) => {
      await openConfigDialog(page, "store");
      const place = page.locator(".dimensioner-new-login");
      for (const length of [150, 200]) {
        const password = "long password ".repeat(20).slice(0, length);
        await place.getByLabel("User name").fill(`Anna ${length}`);
        await place.getByLabel("Password").fill(password);
        const [request] = await Promise.all([
          page.waitForRequest(/\/dimensioner-store\/login$/),
          page.locator(".dimensioner-add-login").click(),
        ]);
        assert.deepEqual(request.postDataJSON(), { password });
        await page.getByText(`Anna ${length} was added.`).waitFor();
      }
      await place.getByLabel("User name").fill("Ben");
      await place.getByLabel("Password").fill("p".repeat(201));
      await page.locator(".dimensioner-add-login").click();
      await page.getByText("Password: It is longer than 200 characters.").waitFor();
      assert.deepEqual(await faultsOfDialog(page), []);
    }));
});
