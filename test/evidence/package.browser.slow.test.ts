import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { fillArchive } from "../archive/packages.ts";
import { withFolder } from "../media/support.ts";
import { faultsOfPage } from "../simulator/browser-page.ts";
import { longestWaitMs } from "../support/browser.ts";
import { sharedBrowser } from "../support/shared-browser.ts";
import { packagesOf, withPage, type Served } from "./support.ts";

const rules = { by: "proxy", header: "x-user", addresses: ["127.0.0.1"], managers: ["Anna", "Ben"] } as const;

describe("a package on the evidence page", () => {
  const open = (
    hashOf: (id: string) => string,
    body: (page: Page, served: Served, id: string) => Promise<void>,
  ) =>
    withFolder(async (root) => {
      await fillArchive(root, ["m0"]);
      await withPage(root, rules, async (served) => {
        const response = await served.ask("api/packages?text=", { headers: { "x-user": "Anna" } });
        const [one] = await packagesOf<{ packageId: string }>(response);
        const id = encodeURIComponent(one?.packageId ?? assert.fail());
        const browser = await sharedBrowser();
        const context = await browser.newContext({ locale: "en", extraHTTPHeaders: { "x-user": "Anna" } });
        try {
          context.setDefaultTimeout(longestWaitMs);
          const page = await context.newPage();
          await page.goto(`${served.url}#package=${hashOf(id)}`);
          await body(page, served, id);
        } finally {
          await context.close();
        }
      });
    });

  it("shows the hold that somebody else has set meanwhile, and asks again", () =>
    open(
      (id) => id,
      async (page, { post }, id) => {
        await page.locator("#hold-state", { hasText: "Not on hold" }).waitFor();
        const held = await post(
          `api/packages/${id}/hold`,
          { reason: "a claim of Ben", heldAt: null },
          { "x-user": "Ben" },
        );
        assert.equal(held.status, 200);
        await page.fill("#reason", "a claim of Anna");
        await page.keyboard.press("Enter");
        await page.locator("#hold-problem", { hasText: "Somebody has changed the hold meanwhile" }).waitFor();
        await page.locator("#hold-state", { hasText: "by Ben: a claim of Ben" }).waitFor();
        assert.equal(await page.inputValue("#reason"), "", "it was for another hold");
        assert.deepEqual(await faultsOfPage(page), []);
        await page.fill("#reason", "settled with Ben");
        await page.keyboard.press("Enter");
        await page.locator("#hold-state", { hasText: "Not on hold" }).waitFor();
        assert.equal(await page.locator("#hold-problem").innerText(), "");
      },
    ));

  it("says why it cannot be shown for as long as it is not", () =>
    open(
      () => "nobody",
      async (page) => {
        await page.locator("article [role=alert]", { hasText: "There is no such package." }).waitFor();
        assert.equal(await page.locator("#notice.shown").count(), 0);
        assert.deepEqual(await faultsOfPage(page), []);
        await page.click("#back");
        await page.locator("#results li").waitFor();
      },
    ));
});
