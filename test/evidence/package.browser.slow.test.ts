import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { fillArchive } from "../archive/packages.ts";
import { intentOf, mediumOf, openArchive } from "../archive/support.ts";
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
    fill: (root: string) => Promise<unknown> = (root) => fillArchive(root, ["m0"]),
  ) =>
    withFolder(async (root) => {
      await fill(root);
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
        await page.fill("#reason", "   ");
        await page.keyboard.press("Enter");
        await page.locator("#reason:invalid:focus").waitFor();
        assert.equal(await page.locator("#notice").innerText(), "", "a blank is no reason, and was not sent");
      },
    ));

  it("takes a number that comes later, and says who has added it", () =>
    open(
      (id) => id,
      async (page, served) => {
        await page.fill("#number", "1Z 4711");
        await page.keyboard.press("Enter");
        await page.locator("#numbers li", { hasText: /^1Z 4711: added .* by Anna$/ }).waitFor();
        assert.equal(await page.inputValue("#number"), "");
        assert.deepEqual(await faultsOfPage(page), []);
        await page.goto(`${served.url}#search=4711`);
        await page.locator("#results li").waitFor();
      },
    ));

  /** A video whose content no browser can play, two pictures with their kinds as the cloud has them, and one of the shop's own. */
  const fillWithKinds = async (root: string): Promise<void> => {
    const { runner, close } = await openArchive(root, undefined);
    const video = Buffer.concat([
      Buffer.from("00000018667479706d703432000000006d703432", "hex"),
      Buffer.alloc(4_000, 7),
    ]);
    const media = [
      { ...mediumOf("plain"), description: "ColorImageJpeg" },
      // As the cloud has the picture that the device has given before.
      { ...mediumOf("plain"), description: "image/jpeg", filename: "again.jpg" },
      { ...mediumOf("own"), description: "the label, <b>torn</b>" },
      { ...mediumOf("drawn"), description: "AnnotatedColorImageJpeg" },
      { ...mediumOf(""), content: video, contentType: "video/mp4", description: "ColorVideoMp4" },
    ];
    const submission = await runner.submitMedia(intentOf("m0", { origin: null, raw: "{}" }), media, null);
    await submission.end();
    submission.messageSent();
    await close();
  };

  it("names its pictures for people, leads through them with the arrow keys, and says what it cannot play", () =>
    open(
      (id) => id,
      async (page) => {
        await page.locator(".video .problem", { hasText: "This browser cannot play the video." }).waitFor();
        assert.deepEqual(
          await page
            .locator("figcaption")
            .allInnerTexts()
            .then((all) => all.map((one) => one.trim())),
          ["Video · Save ColorVideoMp4.mp4", "Picture with dimensions", "Picture", "the label, <b>torn</b>"],
        );
        assert.deepEqual(await faultsOfPage(page), []);
        await page.locator(".thumb").first().click();
        const title = page.locator("#viewer-title");
        assert.match(await title.innerText(), /^Picture with dimensions, ORDER-1/);
        await page.keyboard.press("ArrowLeft");
        await page.keyboard.press("ArrowRight");
        await page.locator("#viewer-title", { hasText: /^Picture, / }).waitFor();
        await page.click("#viewer-next");
        await page.locator("#viewer-title", { hasText: /^the label, <b>torn<\/b>, / }).waitFor();
        await page.keyboard.press("ArrowRight");
        assert.equal(await page.getAttribute("#viewer-next", "aria-disabled"), "true");
        await page.click("#viewer-zoom");
        await page.locator(".frame.zoomed").waitFor();
        assert.deepEqual(await faultsOfPage(page), []);
        await page.click("#viewer-previous");
        await page.locator(".frame.zoomed").waitFor({ state: "detached" });
        await page.keyboard.press("Escape");
        await page.locator("#viewer").waitFor({ state: "hidden" });
      },
      fillWithKinds,
    ));

  it("says which picture it cannot show, and lets people save it; the list has one that it can show", () =>
    open(
      (id) => id,
      async (page, served, id) => {
        const unshown = page.locator("figure", { hasText: "This browser cannot show the picture." });
        await unshown.getByText("the damage", { exact: true }).waitFor();
        assert.equal(await unshown.locator("a[download]").innerText(), "Save the damage.tif");
        assert.equal(await page.locator("figure").count(), 2);
        assert.equal(await unshown.count(), 1);
        assert.deepEqual(await faultsOfPage(page), []);
        const inList = await served.ask(`api/packages/${id}/files/picture`, {
          headers: { "x-user": "Anna" },
        });
        assert.equal(inList.headers.get("content-type"), "image/bmp");
        // The longest reference that there can be.
        assert.ok(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"));
      },
      async (root) => {
        const { runner, close } = await openArchive(root, undefined);
        const tiff = Buffer.concat([Buffer.from("II*\0"), Buffer.alloc(4_000, 0x81)]);
        // One black pixel.
        const start = Buffer.from("424d3a0000000000000036000000280000000100000001000000010018", "hex");
        const media = [
          { ...mediumOf(""), content: tiff, contentType: "image/tiff", description: "the damage" },
          {
            ...mediumOf(""),
            content: Buffer.concat([start, Buffer.alloc(29)]),
            contentType: "image/bmp",
            description: "the parcel",
          },
        ];
        const { references } = intentOf("m0");
        const intent = intentOf("m0", {
          origin: null,
          raw: "{}",
          references: { ...references, transactionReference: "W".repeat(200) },
        });
        const submission = await runner.submitMedia(intent, media, null);
        await submission.end();
        submission.messageSent();
        await close();
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

  it("names its tab, says that it waits, and asks again by itself what had no answer", () =>
    open(
      (id) => id,
      async (page, { hold }) => {
        await page.locator("#package-title").waitFor();
        assert.equal(await page.title(), "ORDER-1 – Evidence");
        const reading = hold("find");
        await page.reload();
        await page.locator("article [role=status]", { hasText: "One moment…" }).waitFor();
        reading.release();
        await page.locator("#package-title").waitFor();
        await page.context().setOffline(true);
        await page.click("#back");
        await page.locator("#result-count", { hasText: "No response." }).waitFor();
        assert.equal(await page.title(), "Evidence");
        await page.context().setOffline(false);
        await page.locator("#results li").waitFor();
        await page.context().setExtraHTTPHeaders({ "x-user": "Zoe" });
        await page.reload();
        await page.locator("#results a").click();
        await page.locator("#hold-title").waitFor();
        assert.equal(await page.locator("#numbers-title").count(), 0, "who may only view adds no number");
      },
    ));
});
