import assert from "node:assert/strict";
import { appendFile, cp, mkdir, mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import type { JobRunner } from "../../src/jobs/runner.ts";
import { fillArchive } from "../archive/packages.ts";
import { readZip } from "../archive/read-zip.ts";
import { databaseOf } from "../archive/store.ts";
import { intentOf, openArchive } from "../archive/support.ts";
import { editorsOfSuite, type OpenEditor } from "../editor/open-editors.ts";
import { nodeRedMajor } from "../support/node-red.ts";
import { closeDialog, faultsOfDialog, fill, openConfigDialog, problemOf } from "../editor/dialog.ts";
import { deploy } from "../editor/wires.ts";
import { faultsOfPage } from "../simulator/browser-page.ts";
import { longestWaitMs } from "../support/browser.ts";
import { sharedBrowser } from "../support/shared-browser.ts";
import { parseTable } from "./parse-table.ts";

const config = "#node-config-input-";
const storeId = "page-store";
const password = "a long password";
const hostile = `"><img src=x onerror="window.hacked=1">`;
/** What a shift leaves behind: order numbers that begin with a letter and two more characters. The first is hostile. */
const references = [hostile, ...Array.from({ length: 299 }, (_, n) => orderNumber(n))];
const wanted = orderNumber(38);
const newest = orderNumber(298);

function orderNumber(n: number): string {
  return `${(12_960 + 101 * n).toString(36).toUpperCase()}-${1000 + 7 * n}`;
}

/** The package that also has a video. */
async function addVideo(runner: JobRunner): Promise<void> {
  const content = await readFile(join(import.meta.dirname, "../../src/simulator/catalogue/cube.mp4"));
  const medium = { content, contentType: "video/mp4", contentId: null, description: "video", filename: null };
  const ofVideo = { ...intentOf("video").references, transactionReference: "VIDEO-1" };
  const intent = intentOf("video", { origin: null, raw: "{}", references: ofVideo });
  const submission = await runner.submitMedia(intent, [medium], null);
  await submission.end();
  submission.messageSent();
}

describe(`the evidence page, in Node-RED ${nodeRedMajor}`, () => {
  let root: string;
  let browser: Browser;

  before(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), "packages-")));
    browser = await sharedBrowser();
    await fillArchive(
      root,
      references.map((_, n) => `m${n}`),
      (_id, n) => ({
        deviceUtcTime: references[n] === wanted ? "2099-01-01T00:00:00.000Z" : null,
        references: {
          transactionReference: references[n] ?? null,
          customReference1: null,
          customReference2: null,
          customReference3: null,
          barcodeReference: null,
        },
      }),
    );
    const { runner, close } = await openArchive(root, undefined);
    await addVideo(runner);
    await close();
  });
  after(() => rm(root, { recursive: true, force: true, maxRetries: 3 }));

  const editors = editorsOfSuite([
    { id: "tab", type: "tab", label: "Dock" },
    { id: storeId, type: "dimensioner-store", name: "Evidence", folder: "/none", folderType: "str" },
  ]);

  /** Gives the store the archive with its index, a page and two logins, all of it in its dialog. */
  async function setUp(openEditor: OpenEditor): Promise<void> {
    const { page, nodeRed } = openEditor;
    const folder = join(nodeRed.userDir, "dimensioner");
    await mkdir(folder, { recursive: true });
    await cp(databaseOf(root), join(folder, `${storeId}.sqlite`));
    // Each has packages of its own, because both change the hold of the same one.
    const packages = join(nodeRed.userDir, "packages");
    await cp(root, packages, { recursive: true });
    await openConfigDialog(page, storeId);
    await fill(page, "folder", { type: "str", value: packages }, config);
    await fill(page, "path", "evidence", config);
    assert.match(await problemOf(page, "logins", config), /Add at least one login/);
    await addLogin(page, "Anna", "short", "manage");
    await page.getByText("A password needs at least 12 characters.").waitFor();
    await addLogin(page, "Anna", password, "manage");
    await page.getByText("Anna was added.").waitFor();
    await addLogin(page, "Ben", password, "read");
    await page.getByText("Ben was added.").waitFor();
    assert.equal(await problemOf(page, "logins", config), "");
    assert.deepEqual(await faultsOfDialog(page), []);
    await closeDialog(page, "ok", "config");
    const served = nodeRed.nextLine(/The evidence page is served at \/evidence\//);
    await deploy(openEditor);
    await served;
  }

  async function addLogin(page: Page, name: string, given: string, right: string): Promise<void> {
    const place = page.locator(".dimensioner-new-login");
    await place.getByLabel("User name").fill(name);
    await place.getByLabel("Password").fill(given);
    await place.getByLabel("Right").selectOption(right);
    await page.locator(".dimensioner-add-login").click();
  }

  /** Opens the page in a browser context of its own, which has no session. */
  async function open(url: string, locale = "en"): Promise<{ page: Page; problems: string[] }> {
    const context = await browser.newContext({ viewport: { width: 900, height: 900 }, locale });
    context.setDefaultTimeout(longestWaitMs);
    const page = await context.newPage();
    const problems: string[] = [];
    page.on("pageerror", (error) => problems.push(`page error: ${error.stack ?? error.message}`));
    page.on("console", (message) => problems.push(`console ${message.type()}: ${message.text()}`));
    await page.goto(url);
    return { page, problems };
  }

  async function logIn(page: Page, name: string, given = password): Promise<void> {
    await page.fill("#name", name);
    await page.fill("#password", given);
    await page.keyboard.press("Enter");
  }

  it("has its folder, its path and its logins from the dialog of the store", () => editors.run(setUp));

  it("lets people log in, find a package with three keys, look, verify, hold and log out", () =>
    editors.run(async ({ nodeRed }) => {
      const { page, problems } = await open(`${nodeRed.url}/evidence`);
      await page.locator("#name:focus").waitFor();
      assert.deepEqual(await faultsOfPage(page), []);
      assert.deepEqual(problems, [], "who has to log in has made no mistake");
      await logIn(page, "Anna", "wrong password");
      await page.locator("#login-problem", { hasText: "The user name or the password is wrong." }).waitFor();
      await page.keyboard.type(password);
      await page.keyboard.press("Enter");
      await page.locator("#search:focus").waitFor();
      await page.locator("#results li").nth(23).waitFor();
      await page.locator("#result-count", { hasText: "The newest 24 packages. There are more:" }).waitFor();
      assert.deepEqual(await faultsOfPage(page), []);

      // Somebody types the end of an order number wrong, and then only its beginning.
      await page.keyboard.type(`${wanted.slice(0, -1)}x`);
      await page.locator("#result-count", { hasText: "No packages found" }).waitFor();
      await page.fill("#search", "");
      await page.locator("#results li").nth(23).waitFor();
      await page.keyboard.type(wanted.slice(0, 3).toLowerCase());
      await page.locator("#results a", { hasText: wanted }).waitFor();
      // It is among the results of the first letter, too.
      await page.locator("#results li").nth(1).waitFor({ state: "detached" });
      assert.equal(await page.locator("#results li").count(), 1);
      await page.locator(".hint", { hasText: "files are not verified" }).waitFor();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await page.locator("#package-title:focus", { hasText: wanted }).waitFor();
      await page.locator("#verdict", { hasText: "not verified" }).waitFor();
      // The clock of its device was years ahead.
      await page.locator("#times-in-doubt", { hasText: "do not fit together" }).waitFor();
      assert.equal(await page.locator(".media .thumb").count(), 2);
      const lastVerified = page.locator(".facts div", { hasText: "Last verified" });
      await lastVerified.filter({ hasText: "never" }).waitFor();
      await page.click("#verify");
      await page.locator("#verdict", { hasText: "nothing has changed" }).waitFor();
      await lastVerified.filter({ hasText: new Date().getFullYear().toString() }).waitFor();
      await page.fill("#reason", "a claim");
      await page.keyboard.press("Enter");
      await page.locator("#hold-state", { hasText: "by Anna: a claim" }).waitFor();
      assert.deepEqual(await faultsOfPage(page), []);
      await page.fill("#reason", "settled");
      await page.keyboard.press("Enter");
      await page.locator("#hold-state", { hasText: "Not on hold" }).waitFor();

      // Of a package that was damaged when it was last verified, also the list tells it.
      const id = `m${references.indexOf(wanted)}`;
      await appendFile(join(nodeRed.userDir, "packages/2026-11-02", `ORDER-1-${id}`, "item.jpg"), "!");
      await page.click("#verify");
      await page.locator("#verdict", { hasText: "Problems found: 1" }).waitFor();
      await page.locator(".head .mark", { hasText: "Damaged when last verified" }).waitFor();
      await page.click("#back");
      await page.locator("#results .mark", { hasText: "Damaged when last verified" }).waitFor();
      assert.deepEqual(await faultsOfPage(page), []);
      await page.locator("#results a", { hasText: wanted }).click();
      await page.locator("#package-title:focus", { hasText: wanted }).waitFor();

      const link = page.url();
      const { page: stranger } = await open(link);
      await stranger.locator("#name:focus").waitFor();
      await logIn(stranger, "Ben");
      await stranger.locator("#package-title", { hasText: wanted }).waitFor();
      assert.equal(await stranger.locator("#hold-form").count(), 0, "a reader cannot hold");
      await stranger.context().close();

      await page.click("#back");
      await page.fill("#search", hostile.slice(0, 5));
      // The results of the search before may still be there.
      await page.locator("#results a", { hasText: hostile }).first().click();
      await page.locator("#package-title", { hasText: hostile }).waitFor();
      await page.locator(".media .thumb").first().click();
      await page.locator("#viewer-title", { hasText: hostile }).waitFor();
      await page.keyboard.press("Escape");
      await page.locator("#viewer").waitFor({ state: "hidden" });
      const injected = await page.evaluate(`[window.hacked, document.querySelectorAll("img[src=x]").length]`);
      assert.deepEqual(injected, [undefined, 0]);

      for (const [width, colorScheme] of [
        [360, "light"],
        [1300, "dark"],
      ] as const) {
        await page.setViewportSize({ width, height: 800 });
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        assert.deepEqual(await faultsOfPage(page), [], `${width}`);
        await page.click("#back");
        await page.locator("#results li").first().waitFor();
        assert.deepEqual(await faultsOfPage(page), [], `${width}`);
        await page.locator("#results a").first().click();
        await page.locator("#package-title").waitFor();
      }
      await page.click("#log-out");
      await page.locator("#name:focus").waitFor();
      await page.reload();
      await page.locator("#name:focus").waitFor();
      // A browser notes each answer that refuses: for a wrong password.
      assert.deepEqual(
        problems.filter((one) => !/status of 401/.test(one)),
        [],
      );
      await page.context().close();
    }));

  it("exports a case, plays and seeks a video, and opens only what belongs to the text that was typed", () =>
    editors.run(async ({ nodeRed }) => {
      const { page, problems } = await open(`${nodeRed.url}/evidence/`);
      await page.locator("#name:focus").waitFor();
      await logIn(page, "Ben");
      await page.locator("#results li").nth(23).waitFor();

      // The store is away: that stays on the page, which is blank otherwise.
      const away = { status: 503, contentType: "application/json", body: '{"reason":"unavailable"}' };
      await page.route("**/api/packages?text=AWAY", (route) => route.fulfill(away));
      await page.fill("#search", "AWAY");
      await page
        .locator("#result-count", { hasText: "The packages cannot be read at the moment." })
        .waitFor();
      assert.equal(await page.locator("#notice.shown").count(), 0);
      await page.fill("#search", "");
      await page.locator("#results li").nth(23).waitFor();

      // Enter comes before the answer, as after a scan: the results of the text before are not opened.
      const asked = Promise.withResolvers<() => void>();
      await page.route("**/api/packages?text=VIDEO-1", (route) => {
        asked.resolve(() => void route.continue());
      });
      await page.fill("#search", "VIDEO-1");
      const answer = await asked.promise;
      await page.keyboard.press("Enter");
      await page.locator('#results[aria-busy="true"][inert]').waitFor();
      assert.equal(new URL(page.url()).hash, "");
      const ranges: string[] = [];
      page.on("response", (response) => {
        ranges.push(response.headers()["content-range"] ?? "");
      });
      answer();
      await page.locator("#package-title:focus", { hasText: "VIDEO-1" }).waitFor();

      const at = await page.evaluate(`new Promise((resolve, reject) => {
        const video = document.querySelector(".media video");
        video.muted = true;
        video.addEventListener("error", () => reject(new Error("it cannot be played")));
        video.addEventListener("seeked", () => resolve(video.currentTime / video.duration));
        const playing = new Promise((begin) => video.addEventListener("timeupdate", begin, { once: true }));
        const seek = () => {
          video.pause();
          video.currentTime = video.duration / 2;
        };
        Promise.all([video.play(), playing]).then(seek, reject);
      })`);
      assert.ok(Math.abs(Number(at) - 0.5) < 0.2, String(at));
      assert.ok(
        ranges.some((range) => range.startsWith("bytes ")),
        "the player asks for parts",
      );

      await page.click("#back");
      await page.fill("#search", wanted);
      await page.locator("#results li").nth(1).waitFor({ state: "detached" });
      const [table] = await Promise.all([page.waitForEvent("download"), page.click("#save-table")]);
      assert.match(table.suggestedFilename(), /^packages-[\d-]{10}\.csv$/);
      const rows = parseTable(await readFile(await table.path()));
      assert.deepEqual(
        rows.map((row) => row["transactionReference"]),
        [wanted],
      );
      await page.getByText("Packages in the file: 1").waitFor();
      await page.getByRole("checkbox", { name: `Add ${wanted} to the case` }).check();
      await page.fill("#search", newest);
      await page.getByRole("checkbox", { name: `Add ${newest} to the case` }).check();
      await page.locator("#case", { hasText: "Packages in the case: 2" }).waitFor();
      assert.deepEqual(await faultsOfPage(page), []);
      await page.locator("#case").getByLabel("Claim number").fill("C-2026/17");
      const [download] = await Promise.all([page.waitForEvent("download"), page.click("#export-case")]);
      const zip = await readZip(await download.path(), (name) => name === "report.html");
      assert.match(String(zip.find(({ name }) => name === "report.html")?.content), /<bdi>C-2026\/17</);
      const names = zip.map(({ name }) => name);
      for (const reference of [wanted, newest]) {
        assert.ok(
          names.some((name) => name.startsWith("reports/") && name.includes(reference)),
          names.join(),
        );
      }
      await page.click("#empty-case");
      await page.locator("#case").waitFor({ state: "detached" });
      await page.locator("#results a").first().click();
      const [single] = await Promise.all([page.waitForEvent("download"), page.click("#export")]);
      assert.match(single.suggestedFilename(), /^evidence-.+\.zip$/);
      assert.deepEqual(
        problems.filter((one) => !/status of (?:401|503)/.test(one)),
        [],
      );
      await page.context().close();
    }));

  it("speaks the language of the browser, and keeps a session while the node is redeployed", () =>
    editors.run(async ({ nodeRed }) => {
      const { page } = await open(`${nodeRed.url}/evidence/`, "de-AT");
      await page.getByRole("heading", { name: "Anmelden" }).waitFor();
      await logIn(page, "Ben");
      await page.locator("#search").waitFor();
      assert.equal(await page.evaluate("document.documentElement.lang"), "de");
      const flows = (await (await nodeRed.adminFetch("/flows")).json()) as object[];
      await nodeRed.deploy(flows);
      await page.reload();
      await page.locator("#search").waitFor();
      await page.locator("#results a").first().waitFor();
      await page.context().clearCookies();
      await page.locator("#results a").first().click();
      await page.locator("#login-problem", { hasText: "Ihre Anmeldung gilt nicht mehr." }).waitFor();
      await logIn(page, "Ben");
      await page.locator("#package-title").waitFor();
      await page.context().close();

      const without = flows.filter((node) => !("id" in node && node.id === storeId));
      await nodeRed.deploy(without);
      assert.equal((await fetch(`${nodeRed.url}/evidence/`)).status, 404);
    }));
});
