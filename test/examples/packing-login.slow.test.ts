import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { nodeRedMajor } from "../support/node-red.ts";
import { sharedBrowser } from "../support/shared-browser.ts";
import { startStation, type StationRun } from "./packing-station.ts";
import { StationPage } from "./station-page.ts";

const login = { username: "packing", password: "a long password" };
/** What Node-RED takes for a hash of 32 characters. */
const hash = createHash("md5").update(login.password).digest("hex");

/** The settings file of the page, with a password. */
async function settingsOfPage(): Promise<string> {
  const page = await readFile(join(import.meta.dirname, "../../docs/station.md"), "utf8");
  const [, settings = assert.fail()] = /```js\n(\/\/ settings\.js\n.*?)```/s.exec(page) ?? [];
  assert.match(settings, /ioMiddleware/);
  return settings.replace("$2b$08$…", hash);
}

/** What Dashboard answers to a program that asks for its connection, without a password and without the name of a page. */
async function answerTo(dashboard: string): Promise<string> {
  const path = `${dashboard}/socket.io/?EIO=4&transport=polling`;
  const ask = async (query: string, init: RequestInit = {}) =>
    (await fetch(path + query, { ...init, headers: { connection: "close" } })).text();
  const { sid } = JSON.parse((await ask("")).slice(1)) as { readonly sid: string };
  await ask(`&sid=${sid}`, { method: "POST", body: "40" });
  return ask(`&sid=${sid}`);
}

describe(`who can open the packer's page, on Node-RED ${nodeRedMajor}`, () => {
  let browser: Browser;
  let run: StationRun;

  before(async () => {
    [browser, run] = await Promise.all([
      sharedBrowser(),
      startStation({ settings: { SIGN_IN: "false" }, settingsFile: await settingsOfPage() }),
    ]);
  });
  after(async () => run?.close());

  it("is a browser that has logged in, also after a restart, and no program without a password", async () => {
    const dashboard = `${run.nodeRed.url}/dashboard`;
    assert.match(await answerTo(dashboard), /^44\{"message":"Log in first"/);
    assert.equal((await run.nodeRed.adminFetch("/dashboard/packing")).status, 401);
    const path = "packing?station=dock-1";
    const options = { httpCredentials: login };
    const dock = await StationPage.openPath(browser, run.nodeRed, path, () => undefined, options);
    await dock.shows("phase");
    await dock.scan("LOGGED-IN");
    await dock.phase("recording");
    await run.restart();
    await dock.shows("notice", "Node-RED was restarted while LOGGED-IN was being packed");
    await dock.close();
  });
});

describe(`the packer's page with httpNodeAuth alone, on Node-RED ${nodeRedMajor}`, () => {
  it("can be used by a program without a password, which docs/station.md warns of", async () => {
    const settingsFile = `module.exports = { httpNodeAuth: { user: "packing", pass: "${hash}" } };`;
    const run = await startStation({ settingsFile });
    try {
      assert.match(await answerTo(`${run.nodeRed.url}/dashboard`), /^40\{"sid"/);
    } finally {
      await run.close();
    }
  });
});
