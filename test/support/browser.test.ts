import assert from "node:assert/strict";
import type { Browser } from "playwright-core";
import { launchBrowser, openEditor } from "./browser.ts";
import { startNodeRed } from "./node-red.ts";

describe("test/support/browser", function () {
  this.timeout(60_000);
  let browser: Browser;

  before(async () => {
    browser = await launchBrowser();
  });
  after(() => browser.close());

  for (const major of [4, 5] as const) {
    it(`opens the editor of Node-RED ${major}`, async () => {
      const nodeRed = await startNodeRed({
        major,
        flows: [{ id: "tab", type: "tab", label: "On the bench" }],
      });
      try {
        const editor = await openEditor(browser, nodeRed.url);
        await editor.page.locator(".red-ui-tab-label", { hasText: "On the bench" }).first().waitFor();
        assert.deepEqual(editor.problems, []);
        await editor.close();
      } finally {
        await nodeRed.stop();
      }
    });
  }
});
