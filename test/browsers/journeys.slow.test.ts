import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setInterval } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { readZip } from "../archive/read-zip.ts";
import { evidenceLogin, startStation, type StationRun } from "../examples/packing-station.ts";
import { longestWaitMs } from "../support/browser.ts";
import { nodeRedMajor } from "../support/node-red.ts";
import { severalTries } from "../support/several-tries.ts";
import { downloadsIn, knownBrowsers, type RunningBrowser } from "./known-browsers.ts";
import { Visitor } from "./visitor.ts";

const configForm = "#node-config-dialog-edit-form";

describe(`pages and dialogs in several browsers, on Node-RED ${nodeRedMajor}`, () => {
  let run: StationRun;
  before(async () => {
    run = await startStation({ more: ["31"], settings: { FREE_SPACE: "0" } });
  });
  after(() => run?.close());

  for (const [name, start] of Object.entries(knownBrowsers)) {
    if (typeof start === "string") {
      it(`cannot be tried in ${name}, which is not installed: apt-get install ${start}`);
      continue;
    }
    describe(`in ${name}, people`, () => {
      const reference = `ORDER-${name.toUpperCase()}`;
      const closers: (() => unknown)[] = [];
      let folder: string;
      let browser: RunningBrowser;
      let person: Visitor;

      before(async () => {
        folder = await mkdtemp(join(tmpdir(), "browser-"));
        closers.push(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
        await mkdir(downloadsIn(folder));
        browser = await severalTries(name, () => start(folder, closers));
        person = new Visitor(browser);
        await run.nodeRed.deploy(run.nodes);
      });
      afterEach(async () => {
        // The editor and Dashboard tell their versions.
        const isTold = (problem: string): boolean => /^(?:log|info|\w*Group\w*): /.test(problem);
        assert.deepEqual(
          (await browser.takeProblems()).filter((one) => !isTold(one)),
          [],
        );
      });
      after(async () => {
        for (const close of closers.toReversed()) {
          await close();
        }
      });

      it("pack a parcel at the station", async () => {
        await browser.open(`${run.nodeRed.url}/dashboard/packing?station=dock-1`);
        await person.sees('[data-test="operator"]', "Nobody is signed in");
        await person.enter("OP-ANNA");
        await person.sees('[data-test="operator"]', "ANNA");
        await person.enter(reference);
        await person.sees('[data-phase="recording"]');
        await person.enter(reference);
        await person.sees('[data-phase="measured"]');
        await person.sees('[data-test="figures"]', "33.5");
        await person.until(`document.querySelector('[data-test="picture"]')?.naturalWidth > 0`);
        await person.click('[data-test="confirm"]');
        await person.sees('[data-phase="idle"]');
        await person.sees('[data-test="entry"][data-evidence="saved"]', reference);
        await person.click('[data-test="signOut"]');
        await person.sees('[data-test="operator"]', "Nobody is signed in");
      });

      it("answer a claim: find, look, play, verify, hold, export, and read the report", async () => {
        await browser.open(`${run.nodeRed.url}/evidence/`);
        await person.sees("#name:focus");
        await person.press(...evidenceLogin.name, "Tab");
        await person.enter(evidenceLogin.password);
        await person.sees("#search:focus");
        await person.press(...reference.slice(3).toLowerCase());
        await person.until(`document.querySelectorAll("#results li").length === 1`);
        await person.click("#save-table");
        assert.match(await readFile(await downloaded(".csv"), "utf8"), new RegExp(reference));
        await person.click("#search");
        await person.press("ArrowDown", "Enter");
        await person.sees("#package-title:focus", reference);
        const rightOf = (selector: string): string =>
          `document.querySelector("${selector}").getBoundingClientRect().right`;
        await person.until(`Math.abs(${rightOf("#export")} - ${rightOf(".package .head")}) < 1`);

        const video = `document.querySelector(".media video")`;
        const isRefused = `document.querySelector(".video .problem") !== null`;
        await person.until(`${video}.readyState > 0 || ${isRefused}`);
        await person.click(".media video");
        await person.until(`${video}.currentTime > 0 || ${isRefused}`);
        await person.click(".thumb");
        await person.sees("#viewer-title", "Picture with dimensions,");
        await person.press("ArrowRight");
        await person.sees("#viewer-title", "Picture,");
        await person.until(`document.querySelector("#viewer-image").naturalWidth > 0`);
        await person.press("ArrowLeft");
        await person.sees("#viewer-title", "Picture with dimensions,");
        await person.press("Escape");
        await person.seesNo("#viewer");
        await person.click("#verify");
        await person.sees("#verdict", "nothing has changed");
        await person.click("#reason");
        await person.enter("a claim");
        await person.sees("#hold-state", "by claims: a claim");
        await person.click("#export");
        const zip = await downloaded(".zip");
        await person.click("#log-out");
        await person.sees("#name:focus");

        for (const { name: file, content } of await readZip(zip)) {
          const path = join(dirname(zip), "case", file);
          await mkdir(dirname(path), { recursive: true });
          await writeFile(path, content);
        }
        await browser.open(pathToFileURL(join(dirname(zip), "case", "report.html")).href);
        await person.sees("body", reference);
        await person.until(
          "((all) => all.length > 1 && all.every((one) => one.naturalWidth > 0))([...document.images])",
        );
      });

      it("see on the supervisor's page what was packed", async () => {
        await browser.open(`${run.nodeRed.url}/dashboard/supervisor`);
        await person.sees('[data-test="dock"][data-dock="dock-1"]', reference);
        await person.sees("tbody tr", reference);
        await person.sees('[data-test="calm"]');
        const date = `document.querySelector('[data-test="verified"] b')`;
        await person.until(`/\\d/.test(${date}.textContent) && ${date}.getClientRects().length === 1`);
      });

      /** The path of a file that the browser has downloaded: Firefox makes it empty at first. */
      async function downloaded(ending: string): Promise<string> {
        const end = Date.now() + longestWaitMs;
        for await (const _ of setInterval(30)) {
          assert.ok(Date.now() < end, `There is no ${ending} among the downloads.`);
          const name = (await readdir(downloadsIn(folder))).find((one) => one.endsWith(ending));
          const path = join(downloadsIn(folder), name ?? "");
          if (name !== undefined && (await stat(path)).size > 0) {
            return path;
          }
        }
        return assert.fail();
      }

      it("build a flow: drag nodes, fill in dialogs, test connections, read the help, deploy", async () => {
        await browser.open(run.nodeRed.url);
        await person.sees("#red-ui-header-button-deploy");
        await person.seesNo("#red-ui-loading-progress");
        await person.click(".red-ui-tab-button .fa-plus");
        await add("dimensioner-measure", 100);
        await person.click("#node-input-btn-device-add, #node-input-lookup-device-add");
        await opened(configForm);
        await person.write("#node-config-input-name", "Dock 3");
        await person.write("#node-config-input-address", "no address");
        await person.sees("#node-config-input-address-problem");
        await person.write("#node-config-input-address", run.simulator.newer.origin);
        await person.seesNo("#node-config-input-address-problem");
        await testConnection();
        await person.click("#node-config-dialog-ok");
        await person.sees("#node-input-device", "Dock 3");
        await backInNode();
        await person.click(".red-ui-tray-footer-left .fa-book");
        await person.sees(".red-ui-help", "Measures the parcel");
        await person.click("#node-dialog-ok");
        await person.seesNo("#dialog-form");

        await add("dimensioner-archive", 200);
        await person.click("#node-input-btn-store-edit, #node-input-lookup-store-edit");
        await opened(configForm);
        await testConnection();
        await person.write(".dimensioner-new-login input", "Ben");
        await person.write(".dimensioner-new-login input[type=password]", "a long password");
        await person.click(".dimensioner-add-login");
        await person.sees(configForm, "Ben was added.");
        await person.click("#node-config-dialog-ok");
        await backInNode();
        await person.click("#node-dialog-ok");
        await person.seesNo("#dialog-form");
        await person.click("#red-ui-header-button-deploy");
        await person.until("!RED.nodes.dirty()");
        await person.sees(".red-ui-flow-node-status-label", "reachable");
      });

      /** Drags a node onto the canvas, and opens its dialog. */
      async function add(type: string, y: number): Promise<void> {
        await person.drag(`[data-palette-type="${type}"]`, "#red-ui-workspace-chart", { x: 200, y });
        await person.click(".red-ui-flow-node-selected");
        await person.press("Enter");
        await opened("#dialog-form");
      }

      /** Waits until a dialog has slid in. */
      async function inPlace(form: string, condition = "true"): Promise<void> {
        await person.until(`((tray) => tray && getComputedStyle(tray).right === "0px" && ${condition})(
          document.querySelector("${form}")?.closest(".red-ui-tray"))`);
      }

      /** Waits until a dialog has slid in, and has the focus. */
      async function opened(form: string): Promise<void> {
        await inPlace(form, "tray.contains(document.activeElement)");
      }

      /** Waits until the dialog of a config node has gone, and the one below it has slid in again. */
      async function backInNode(): Promise<void> {
        await person.seesNo(configForm);
        await inPlace("#dialog-form");
      }

      async function testConnection(): Promise<void> {
        await person.click(`${configForm} .dimensioner-test`);
        await person.sees('.dimensioner-answer[data-state="good"]');
      }
    });
  }
});
