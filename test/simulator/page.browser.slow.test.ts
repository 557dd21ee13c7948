import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";

import { freePort } from "../support/servers.ts";
import { sharedBrowser } from "../support/shared-browser.ts";
import { startSimulator, type Simulator, type StartOptions } from "../../src/simulator/index.ts";
import { faultsOfPage, flip, openPage, type OpenPage } from "./browser-page.ts";
import { bytesOf, cloudGet, measure, useSimulators, video } from "./support.ts";

/** What the build has made of the page. */
const built = join(import.meta.dirname, "../../dist/src/simulator/page");
const mostBytes = 70_000;
/** Names, not addresses: nothing is loaded from them. */
const namespaces = /http:\/\/www\.w3\.org\/(?:1998\/Math\/MathML|1999\/xhtml|2000\/svg)/g;

describe("simulator: page", () => {
  let browser: Browser;
  let opened: OpenPage[] = [];

  before(async () => {
    browser = await sharedBrowser();
  });
  afterEach(async () => {
    const problems = opened.flatMap((one) => one.problems);
    await Promise.all(opened.map(({ page }) => page.context().close()));
    opened = [];
    assert.deepEqual(problems, []);
  });
  // Closed after the page, which would report the end of its connection as an error.
  const start = useSimulators();

  async function open(
    options: StartOptions = {},
  ): Promise<{ sim: Simulator; page: Page; text: (id: string) => Promise<string> }> {
    const sim = await start(options);
    const one = await openPage(browser, sim);
    opened.push(one);
    const { page } = one;
    return { sim, page, text: (id) => page.locator(`#${id}`).innerText() };
  }
  const shows = (page: Page, selector: string, text: string | RegExp): Promise<void> =>
    page.locator(selector, { hasText: text }).first().waitFor();
  /** Waits until the page has said something: it hides the text after some seconds, which a slow test would miss. */
  const says = (page: Page, text: string): Promise<void> =>
    page.locator("#notice", { hasText: text }).waitFor({ state: "attached" });
  const choose = (page: Page, value: string): Promise<void> =>
    page.locator(`label:has(input[value="${value}"])`).click();
  const pressed = (page: Page, name: string): Promise<void> =>
    page.locator(`.preset[aria-pressed="true"]`, { hasText: name }).waitFor();
  const off = (page: Page, name: string): Promise<void> =>
    page.locator(`.preset[aria-pressed="false"]`, { hasText: name }).waitFor();

  const loads = (page: Page, selector: string): Promise<unknown> =>
    page.evaluate(`document.querySelector(${JSON.stringify(selector)}).decode()`);

  it("is served to browsers only, under a strict policy, with all that it needs", async () => {
    const sim = await start();
    const page = await fetch(sim.control.origin, { headers: { accept: "text/html,*/*;q=0.8" } });
    assert.match(page.headers.get("content-type") ?? "", /^text\/html/);
    const policy = page.headers.get("content-security-policy") ?? "";
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; /);
    assert.match(policy, /frame-ancestors 'none'.*trusted-types 'none'$/);
    assert.doesNotMatch(policy, /unsafe|http|\*|data:/);
    const html = await page.text();
    assert.doesNotMatch(html, /<script(?! src)|<style|\son[a-z]+=|\sstyle=/);
    assert.match((await fetch(sim.control.origin)).headers.get("content-type") ?? "", /^application\/json/);

    let bytes = 0;
    const files = await readdir(built);
    assert.deepEqual(files.toSorted(), ["icon.svg", "index.html", "page.css", "page.js", "table.svg"]);
    for (const file of files) {
      const content = await readFile(join(built, file));
      const text = content.toString().replaceAll(namespaces, "");
      assert.doesNotMatch(text, /https?:\/\/|@import|sourceMappingURL/, file);
      bytes += content.length;
      const served = await fetch(`${sim.control.origin}/${file}`);
      assert.deepEqual([served.status, await bytesOf(served)], [200, content], file);
      assert.equal(served.headers.get("x-content-type-options"), "nosniff");
    }
    assert.ok(bytes < mostBytes, `the page has ${bytes} bytes`);
  });

  it("plays a sequence in Video Only: scan, record, encode, watch, and see it in the cloud", async () => {
    const { sim, page, text } = await open({ encodingMs: 50, mediaDelayMs: 50 });
    await choose(page, "video-only");
    await page.click("#parcel-polybag");
    await page.locator("#parcel-polybag[aria-pressed=true]").waitFor();
    await shows(page, "#on-table", "38 × 29.5 × 6.5 cm, 0.64 kg, 395212340000008058");
    await page.click("[data-scan=VIDEO_START]");
    await shows(page, "#badge", /^REC \d:\d\d/);
    await says(page, "The recording has started.");
    await page.click("#press-measure", { force: true });
    await says(page, "Video Only never measures.");
    assert.equal(sim.newer.actions.measures, 0);

    assert.equal(await video(sim, "start", "?transactionReference=ORDER-1"), 200);
    await shows(page, "#storage", "Recording ORDER-1");
    await shows(
      page,
      "#requests li",
      /newer.*POST \/api\/v1\/video\/start.*\?transactionReference=ORDER-1.*200/s,
    );
    await page.fill("#barcode", "395212340000005323");
    await page.keyboard.press("Enter");
    await page.locator("#parcel-cube[aria-pressed=true]").waitFor();

    await page.locator("#video:visible").waitFor();
    await shows(page, "#storage", /^Saved video, \d+ KB · ORDER-1$/);
    const source = (await page.getAttribute("#video", "src")) ?? "";
    const saved = await bytesOf(await fetch(`${sim.control.origin}/${source}`));
    assert.equal(saved.length, sim.newer.state.savedVideo?.bytes);
    const plays = await page.evaluate(
      `document.createElement("video").canPlayType('video/mp4; codecs="avc1.42c00c"')`,
    );
    if (plays !== "") {
      await page.evaluate(`new Promise((resolve) => {
        const video = document.querySelector("#video");
        video.addEventListener("timeupdate", () => video.currentTime > 0 && resolve());
        video.play();
      })`);
    }

    await shows(page, "#transactions li", /Video.*Reference ORDER-1 · Barcode 395212340000005323/s);
    await page.locator("#transactions .film").waitFor();
    const wasOpenAtOnce = await page.evaluate(`new Promise((resolve) => {
      new MutationObserver((_, observer) => {
        const video = document.querySelector("#viewer-video");
        if (video !== null) {
          observer.disconnect();
          resolve(video.closest("dialog").open);
        }
      }).observe(document.body, { childList: true, subtree: true });
      document.querySelector("#transactions .film").click();
    })`);
    assert.equal(wasOpenAtOnce, true, "a key pressed now would be lost");
    assert.match((await page.getAttribute("#viewer-video", "src")) ?? "", /^media\/.+\/.+/);
    await page.keyboard.press("Escape");
    await page.locator("#viewer").waitFor({ state: "hidden" });
    await page.click("#press-cancel");
    await shows(page, "#switched-off, .screen:has(#camera:visible)", "");
    assert.equal(sim.newer.state.savedVideo, null);
    assert.equal(await text("storage"), "");
    assert.ok(sim.requests.every(({ path }) => path === "/api/v1/video/start"));
  });

  it("shows each measurement with its pictures, whoever started it", async () => {
    const { sim, page, text } = await open({ mode: "video-with-measurement", measureMs: 30 });
    await page.click("#press-start");
    await shows(page, "#badge", "REC");
    await measure(sim, "?TransactionReference=ORDER-2&CustomReference1=left");
    await shows(page, "#result", /^Measured over the local API at \d\d:\d\d:\d\d · ORDER-2 · left$/);
    assert.deepEqual(
      [await text("length"), await text("width"), await text("height"), await text("weight")],
      ["33.5", "21.0", "12.5", "1.27"],
    );
    for (const view of ["annotated", "color", "depth"]) {
      if (view !== "annotated") {
        await choose(page, view);
      }
      await page.locator(`#picture[src$="${view}"]:visible`).waitFor();
      await loads(page, "#picture");
    }
    await page.click("#parcel-flat-carton");
    await page.locator("#camera:visible").waitFor();
    await page.click("#scan-label");
    await shows(page, "#result", /by a scan at .* · 395212340000006290$/);
    await page.locator(`#picture[src$="depth"]:visible`).waitFor();
    await page.click("#press-measure");
    await shows(page, "#result", "Measured at the device at");
    const reference = "?deviceReference=ABCD2345&transactionReference=ORDER-3";
    await cloudGet(sim, `/api/remotetrigger/measure${reference}`);
    await shows(page, "#result", /from the cloud at .* · ORDER-3$/);

    assert.equal(await page.locator("#transactions li").count(), 4);
    const first = page.locator("#transactions li").last();
    await first.locator(".thumb").nth(3).waitFor();
    assert.equal(await first.locator(".film").count(), 1);
    await page.locator("#transactions li").first().locator(".thumb").first().click();
    await page.locator("#viewer-image:visible").waitFor();
    await loads(page, "#viewer-image");
    await page.click("#viewer-close");
    await page.click("#reset");
    await shows(page, "#no-requests", "Run your flow");
    await shows(page, "#result", "Nothing measured yet");
    assert.equal(await page.locator("#transactions li").count(), 0);
  });

  it("puts an empty table, a parcel that fails and one of your own under either device", async () => {
    const { sim, page, text } = await open({ mode: "legal-for-trade" });
    await page.click("#parcel-none");
    // Both are requests of their own: the second could be the first to arrive.
    await page.locator("#parcel-none[aria-pressed=true]").waitFor();
    await page.click("#press-measure");
    await shows(page, "#result", "Error 1: No object on the table.");
    assert.equal(await text("length"), "–");
    await page.click("#parcel-failing");
    await page.locator("#parcel-failing[aria-pressed=true]").waitFor();
    const answered = page.waitForResponse(/\/press$/);
    await page.click("#press-measure");
    await answered;
    await shows(page, "#result", "Error 3: The parcel reaches over the edge of the table.");
    assert.equal(await text("notice"), "", "it is not called measured");

    await choose(page, "earlier");
    await shows(page, "#device-title", "Earlier device");
    assert.equal(await page.locator("#modes").isVisible(), false);
    await page.click("#parcel-own");
    await page.fill("#own-length", "0");
    assert.equal(await page.locator("#own:invalid").count(), 1, "nothing is 0 long");
    for (const [field, value] of [
      ["length", "50"],
      ["width", "40.5"],
      ["height", "30"],
      ["weight", "7"],
    ] as const) {
      await page.fill(`#own-${field}`, value);
    }
    await page.fill("#own-barcode", "MINE");
    await page.keyboard.press("Enter");
    await shows(page, "#on-table", "50 × 40.5 × 30 cm, 7 kg, MINE");
    await page.locator("#legal-for-trade:checked").waitFor();
    await page.click("#press-measure");
    await shows(page, "#result", /^Measured at .* · legal for trade$/);
    assert.deepEqual([await text("width"), sim.newer.state.parcel?.errorCode], ["40.5", 3]);
    assert.equal(await page.locator("#weight-cell").isVisible(), false);
    assert.match(page.url(), /#earlier$/);
  });

  it("has the device's switches", async () => {
    // It encodes for longer than the test lasts: a slow browser would miss the badge of a video that is soon saved.
    const { sim, page } = await open({ mode: "video-only", encodingMs: 600_000 });
    await flip(page, sim, "#local-api", () => !sim.newer.localApi);
    await flip(page, sim, "#power", () => !sim.newer.powered);
    await shows(page, "#switched-off", "Switched off");
    assert.deepEqual([sim.newer.powered, sim.newer.localApi], [false, false]);
    await page.click("#press-start", { force: true });
    await says(page, "The device is switched off.");
    await flip(page, sim, "#power", () => sim.newer.powered);
    await page.locator("#switched-off").waitFor({ state: "hidden" });
    await flip(page, sim, "#local-api", () => sim.newer.localApi);
    await flip(page, sim, "#simulation-mode", () => sim.cloud.simulationMode);
    assert.deepEqual([sim.newer.powered, sim.newer.localApi, sim.cloud.simulationMode], [true, true, true]);
    await page.click("#press-start");
    await shows(page, "#badge", "REC");
    await page.click("#press-stop");
    await shows(page, "#badge", /^Encoding, \d+ s$/);
  });

  it("can be worked by keyboard alone", async () => {
    const { sim, page } = await open({ mode: "video-only" });
    const tabTo = async (selector: string): Promise<void> => {
      for (let steps = 0; steps < 60; steps += 1) {
        await page.keyboard.press("Tab");
        if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)) {
          return;
        }
      }
      assert.fail(`Tab does not reach ${selector}`);
    };
    await tabTo("#press-start");
    await page.keyboard.press("Enter");
    await shows(page, "#badge", "REC");
    await tabTo("#barcode");
    await page.keyboard.type("395212340000005323\n");
    await page.locator("#video:visible").waitFor();
    await tabTo("#modes :checked");
    const changed = sim.nextEvent(() => sim.newer.state.mode === "legal-for-trade");
    await page.keyboard.press("ArrowRight");
    await page.locator("#modes [value=legal-for-trade]:checked").waitFor();
    // The page shows what was chosen before the simulator has it.
    await changed;
    await tabTo("#power");
    await page.keyboard.press("Space");
    await shows(page, "#switched-off", "Switched off");
    await tabTo("#parcel-tube-box");
    await page.keyboard.press("Enter");
    await page.locator("#parcel-tube-box[aria-pressed=true]").waitFor();
    assert.equal(sim.newer.powered, false);
    await tabTo(".preset");
    await page.keyboard.press("Space");
    await pressed(page, "newer: next request");
  });

  it("switches faults on and off with one click, and shows which requests they were applied to", async () => {
    const { sim, page } = await open();
    const ping = async (): Promise<number> => (await fetch(`${sim.newer.origin}/api/v1/ping`)).status;
    const fault = (name: string): Promise<void> => page.locator(".preset", { hasText: name }).click();
    await fault("loses the answer");
    await pressed(page, "newer: next request");
    await assert.rejects(measure(sim));
    await off(page, "loses the answer");
    await shows(page, "#requests li", /GET \/api\/v1\/measure.*loses the answer/s);
    assert.equal(sim.newer.actions.measures, 1);

    await page.selectOption("#fault-times", "0");
    await page.selectOption("#fault-path", { label: "measurements" });
    await fault("answers 503");
    await pressed(page, "answers 503");
    assert.equal(await ping(), 200);
    assert.equal((await fetch(`${sim.newer.origin}/api/v1/measure`)).status, 503);
    await pressed(page, "newer: once so far");
    await fault("answers 503");
    await off(page, "answers 503");
    assert.deepEqual(sim.faults.list(), []);

    await page.selectOption("#fault-surface", "");
    await fault("is off the network");
    await pressed(page, "everywhere: now");
    await assert.rejects(ping());
    sim.faults.add({ surface: "cloud", path: "/api/x", times: 2, fault: { kind: "drip" } });
    await shows(page, "#other-faults li", "drip /api/x, cloud: next 2");
    await shows(page, "#fault-count", "2 on");
    await page.click("#clear-faults");
    await off(page, "is off the network");
    await page.locator("#other-faults li").waitFor({ state: "detached" });
    assert.equal(await ping(), 200);
  });

  it("has faults that the control port takes, and aims them", async () => {
    const { sim, page } = await open();
    const fault = (name: string): Promise<void> => page.locator(".preset", { hasText: name }).click();
    // Without the one that ends by itself after some seconds.
    const lasting = `[...document.querySelectorAll(".preset")].filter((one) => !one.textContent.includes("restarts"))`;
    await page.evaluate(`${lasting}.forEach((one) => one.click())`);
    await shows(page, "#fault-count", `${await page.evaluate<number>(`${lasting}.length`)} on`);
    await page.click("#clear-faults");
    await page.locator("#clear-faults").waitFor({ state: "hidden" });
    await page.selectOption("#fault-surface", { label: "cloud" });
    const aimed: Readonly<Record<string, string>> = {
      measurements: "/api/remotetrigger/measure",
      recording: "/api/remotetrigger/startrecording",
      "images, videos": "/api/transactionmedia/1",
    };
    for (const [label, path] of Object.entries(aimed)) {
      await page.selectOption("#fault-path", { label });
      await fault("answers 429");
      await pressed(page, "cloud: next request");
      for (const other of Object.values(aimed)) {
        assert.equal((await cloudGet(sim, other)).status === 429, other === path, `${label} ${other}`);
      }
      await off(page, "answers 429");
    }
    const answered = page.waitForResponse(
      (one) => one.url().endsWith("/faults") && one.request().method() === "POST",
    );
    await fault("restarts");
    assert.equal((await answered).ok(), true);
  });

  it("shows hostile texts as text", async () => {
    const { sim, page } = await open({ mode: "video-with-measurement" });
    const hostile = `"'><img src=x onerror="window.hacked=1"><script>window.hacked=1</script>`;
    const code = encodeURIComponent(hostile);
    sim.newer.setParcel({ lengthCm: 1, widthCm: 1, heightCm: 1, weightKg: 1, barcode: hostile });
    await shows(page, "#on-table", hostile);
    await video(sim, "start", `?transactionReference=${code}`);
    await shows(page, "#storage", hostile);
    await measure(sim, `?TransactionReference=${code}&CustomReference3=${code}`);
    await shows(page, "#result", hostile);
    await page.fill("#barcode", hostile);
    await page.keyboard.press("Enter");
    await shows(page, "#transactions .refs", `Barcode ${hostile}`);
    await fetch(`${sim.earlier.origin}/<b>x?<i>y`);
    await shows(page, "#requests .query", "CustomReference3=%22");
    sim.faults.add({ name: hostile, path: "/<b>", fault: { kind: "close" } });
    await shows(page, "#other-faults li", hostile);
    sim.newer.setParcel({
      lengthCm: 1,
      widthCm: 1,
      heightCm: 1,
      weightKg: 1,
      errorCode: 9,
      errorMessage: hostile,
    });
    await page.click("#press-measure");
    await shows(page, "#result", `Error 9: ${hostile}`);
    sim.cloud.addMedia(hostile, {
      contentType: "text/html",
      description: hostile,
      bytes: Buffer.from(hostile),
    });
    await shows(page, "#transactions .id", hostile);
    await shows(page, "#transactions .other", hostile);
    const found = await page.evaluate(
      `[window.hacked, document.querySelectorAll("img[src=x], main script, main i:not(.dot)").length]`,
    );
    assert.deepEqual(found, [undefined, 0]);
  });

  it("keeps the latest 200 requests, filters them, and survives thousands of them", async () => {
    const { sim, page } = await open();
    for (let n = 0; n < 5; n += 1) {
      await Promise.all(Array.from({ length: 50 }, () => fetch(`${sim.earlier.origin}/api/ping`)));
    }
    await fetch(`${sim.newer.origin}/api/v1/ping/last`);
    await shows(page, "#requests li:first-child", "/api/v1/ping/last");
    await shows(page, "#request-count", "the latest 200");
    assert.equal(await page.locator("#requests li").count(), 200);
    await page.selectOption("#request-filter", "newer");
    await page.locator("#requests li:nth-child(2)").waitFor({ state: "detached" });
    assert.equal(await page.locator("#requests li").count(), 1);
  });

  it("says when the simulator is gone, and comes back to a new one", async () => {
    // Nobody else is given this port while nothing listens on it.
    const port = await freePort();
    const { sim, page } = await open({ ports: { control: port } });
    await measure(sim);
    await page.locator("#transactions li").waitFor();
    await sim.close();
    await shows(page, "#link", "No connection. Is the simulator still running?");
    const next = await startSimulator({ ports: { control: port }, parcel: "cube" });
    try {
      await shows(page, "#link", "Live");
      await shows(page, "#device-address", next.newer.origin);
      await page.locator("#transactions li").waitFor({ state: "detached" });
      await page.locator("#parcel-cube[aria-pressed=true]").waitFor();
    } finally {
      // The browser notes every try to connect in vain.
      const refused = /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE/;
      for (const { problems } of opened) {
        problems.splice(0, Infinity, ...problems.filter((one) => !refused.test(one)));
      }
      await page.context().close();
      await next.close();
    }
  });

  it("has names, keys and room for everything, narrow and wide, light and dark", async () => {
    const { sim, page } = await open({ mode: "video-with-measurement" });
    const path = "/api/v1/a-path-that-goes-on-and-on-without-a-space-to-break-it";
    sim.faults.add({ path, fault: { kind: "cut" } });
    await measure(sim, `?TransactionReference=${"LONG".repeat(40)}`);
    await page.click("#parcel-own");
    await page.locator("#transactions .thumb").first().waitFor();
    await page.locator("#other-faults li").waitFor();
    for (const [width, colorScheme, red] of [
      [400, "light", "233"],
      [900, "dark", "14"],
      [1500, "light", "233"],
    ] as const) {
      await page.setViewportSize({ width, height: 1000 });
      // Without motion: what fades in has no contrast yet.
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      const ground = await page.evaluate<string>(`getComputedStyle(document.body).backgroundColor`);
      assert.equal(/rgb\((\d+),/.exec(ground)?.[1], red);
      for (const generation of ["newer", "earlier"]) {
        await choose(page, generation);
        await shows(page, "#device-title", new RegExp(generation, "i"));
        assert.deepEqual(await faultsOfPage(page), [], `${width} ${generation}`);
      }
    }
    await page.locator("#transactions .thumb").first().click();
    assert.deepEqual(await faultsOfPage(page), []);
  });
});
