import { fillArchive, changeDatabase } from "../archive/packages.ts";
import { databaseOf } from "../archive/store.ts";
import { withFolder } from "../media/support.ts";
import { longestWaitMs } from "../support/browser.ts";
import { sharedBrowser } from "../support/shared-browser.ts";
import { withPage } from "./support.ts";

const rules = { by: "proxy", header: "x-user", addresses: ["127.0.0.1"], managers: [] } as const;
const at = "2026-03-04T01:30:00.000Z";

describe("the day of a package on the evidence page", () => {
  it("is that on which it was archived, which a result shows if it was measured on another one", () =>
    withFolder(async (root) => {
      await fillArchive(root, ["m0"], () => ({ deviceUtcTime: "2026-03-02T12:00:00.000Z" }));
      await withPage(root, rules, async ({ url }) => {
        const browser = await sharedBrowser();
        const context = await browser.newContext({
          locale: "en-US",
          timezoneId: "UTC",
          extraHTTPHeaders: { "x-user": "Anna" },
        });
        try {
          context.setDefaultTimeout(longestWaitMs);
          const page = await context.newPage();
          await page.goto(url);
          const result = page.locator("#results .hint", { hasText: "Mar 2, 2026, 12:00:00" });
          const shown = /Archived \(clock of Node-RED\): (\w+ \d+, \d+)/.exec(await result.innerText())?.[1];
          const day = new Date(`${shown} UTC`).toISOString().slice(0, 10);
          for (const [text, count] of [
            ["2026-03-02", "No packages found"],
            [day, "Packages found: 1"],
          ] as const) {
            await page.fill("#search", text);
            await page.locator("#result-count").getByText(count).waitFor();
          }
        } finally {
          await context.close();
        }
      });
    }));

  // Whatever the time zone of the server is, it is not both.
  for (const [timezoneId, day, other, shown] of [
    ["America/New_York", "2026-03-03", "2026-03-04", "Mar 3, 2026, 8:30:00"],
    ["Asia/Tokyo", "2026-03-04", "2026-03-03", "Mar 4, 2026, 10:30:00"],
  ] as const) {
    it(`finds it in the time zone in which the page shows it: ${timezoneId}`, () =>
      withFolder(async (root) => {
        await fillArchive(root, ["m0"], () => ({ deviceUtcTime: at }));
        changeDatabase(databaseOf(root), `UPDATE packages SET archived_at = '${at}'`);
        await withPage(root, rules, async ({ url }) => {
          const browser = await sharedBrowser();
          const context = await browser.newContext({
            locale: "en-US",
            timezoneId,
            extraHTTPHeaders: { "x-user": "Anna" },
          });
          try {
            context.setDefaultTimeout(longestWaitMs);
            const page = await context.newPage();
            await page.goto(url);
            const count = page.locator("#result-count");
            await page.locator("#results .hint", { hasText: shown }).waitFor();
            await page.fill("#search", other);
            await count.getByText("No packages found").waitFor();
            for (const text of [day, `${day}/${day}`]) {
              await page.fill("#search", text);
              await count.getByText("Packages found: 1").waitFor();
              await page.fill("#search", "none");
              await count.getByText("No packages found").waitFor();
            }
          } finally {
            await context.close();
          }
        });
      }));
  }
});
