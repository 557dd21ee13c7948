import assert from "node:assert/strict";
import { appendFile, mkdtemp, readdir, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as v from "valibot";
import { languages } from "../../src/rules/languages.ts";
import { fillArchive } from "../archive/packages.ts";
import { longestWaitMs } from "../support/browser.ts";
import { sharedBrowser } from "../support/shared-browser.ts";
import { withPage } from "./support.ts";

const texts = join(import.meta.dirname, "../../src/evidence/page/client/texts");
const rules = { by: "proxy", header: "x-user", addresses: ["127.0.0.1"], managers: ["Anna"] } as const;
const width = 320;

/** What is wider than its place, or than the screen: its text would be cut off. */
const cutOff = `[...document.querySelectorAll("button, a, label, summary, p, li, dt, dd, h1, h2, h3")]
  .filter((one) => one.getClientRects().length > 0)
  .filter((one) => one.getBoundingClientRect().right > ${width} || (one.clientWidth > 0 && one.scrollWidth > one.clientWidth + 1))
  .map((one) => one.textContent.trim())
  .concat(document.documentElement.scrollWidth > ${width} ? ["the page"] : [])`;

describe("the evidence page on a small phone", () => {
  let root: string;
  before(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), "packages-")));
    const [path = ""] = await fillArchive(root, ["m0"], () => ({
      measurement: JSON.stringify({ length: 120.5, width: 80.25, height: 60.75, dimsUnitOfMeasure: "cm" }),
    }));
    const picture = (await readdir(join(root, path))).find((name) => name.endsWith(".jpg"));
    await appendFile(join(root, path, picture ?? ""), "changed");
  });
  after(() => rm(root, { recursive: true, force: true }));

  it("cuts off no text and says what Verify has found, in each language", () =>
    withPage(root, rules, async ({ url }) => {
      const browser = await sharedBrowser();
      for (const language of languages) {
        const said = v.parse(
          v.record(v.string(), v.string()),
          JSON.parse(await readFile(join(texts, `${language}.json`), "utf8")),
        );
        const context = await browser.newContext({
          locale: language,
          viewport: { width, height: 800 },
          extraHTTPHeaders: { "x-user": "Anna" },
        });
        try {
          context.setDefaultTimeout(longestWaitMs);
          const page = await context.newPage();
          await page.goto(url);
          await page.locator("#results li").first().waitFor();
          assert.equal(await page.evaluate("document.documentElement.lang"), language);
          assert.deepEqual(await page.evaluate(cutOff), [], `${language}: the search`);
          await page.locator("#results a").first().click();
          await page.locator("#package-title").waitFor();
          await page.click("#verify");
          await page.locator(".verify li", { hasText: said["finding.changed"] ?? "" }).waitFor();
          assert.deepEqual(await page.evaluate(cutOff), [], `${language}: the package`);
        } finally {
          await context.close();
        }
      }
    }));
});
