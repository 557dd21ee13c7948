import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { connect } from "node:net";
import type { Browser } from "playwright-core";
import { openEditorEvents } from "../support/run-flow.ts";
import { nodeNamed, readExample } from "../support/examples.ts";
import { longestWaitMs } from "../support/browser.ts";
import { freePort } from "../support/servers.ts";
import { sharedBrowser } from "../support/shared-browser.ts";
import { startExamples, type ExamplesRun } from "./several-examples.ts";

const barcode = "395212340000004173";

describe("the examples 07 and 08: scanners, in one Node-RED", () => {
  let run: ExamplesRun;
  let tcpPort: number;

  before(async () => {
    tcpPort = await freePort();
    run = await startExamples(["07", "08"], {
      adapt: (node) => ({
        ...node,
        ...(node.type === "tcp in" ? { port: String(tcpPort) } : {}),
        // The shipped 2 s can be over before a busy computer has scanned again; no other test scans the same code there.
        ...("ignoreRepeats" in node ? { ignoreRepeats: "3600" } : {}),
      }),
    });
  });
  beforeEach(() => run.simulator.reset());
  after(() => run.close());

  /** Scans, and resolves with the barcode that the device got. */
  const measuredBy = async (scan: () => Promise<unknown>): Promise<string | null> => {
    const measured = run.simulator.nextRequest(({ path }) => path === "/api/v1/measure");
    await scan();
    const request = await measured;
    const references = [...new URLSearchParams(request.query)];
    return references.find(([name]) => name.toLowerCase() === "transactionreference")?.[1] ?? null;
  };

  describe("07: on the network", () => {
    const path = "/dimensioner/scan";

    it("measures at the press of the button, and ignores the same code again in the same moment", async () => {
      const node = nodeNamed(await readExample("07"), "Measure the parcel");
      const ignored = new EventEmitter();
      const editorEvents = await openEditorEvents(
        run.nodeRed.url,
        ({ kind, nodeId, text }) =>
          kind === "status" && nodeId === node.id && text === "repeats ignored: 1" && ignored.emit("shown"),
        () => undefined,
      );
      const shown = once(ignored, "shown");
      const headers = { "content-type": "text/plain" };
      await run.press("07", "Scan a parcel", ["Measured"]);
      await run.nodeRed.adminFetch(path, { method: "POST", headers, body: barcode });
      await shown;
      assert.equal(run.simulator.newer.actions.measures, 1);
      editorEvents.close();
    });

    it("asks no broker as it is shipped", () => {
      assert.deepEqual(
        run.nodeRed.logs.filter((line) => /broker/i.test(line)),
        [],
      );
    });

    it("takes a line by TCP", async () => {
      const scanner = connect(tcpPort, "127.0.0.1");
      assert.equal(await measuredBy(async () => scanner.write("TCP-4711\r\n")), "TCP-4711");
      scanner.destroy();
      await once(scanner, "close");
    });

    it("takes a post as text and as JSON, and answers that it has taken it", async () => {
      for (const [contentType, body] of [
        ["text/plain", "HTTP-4711"],
        ["application/json", '{"barcode":"HTTP-4712"}'],
      ] as const) {
        const barcodeMeasured = await measuredBy(async () => {
          const headers = { "content-type": contentType };
          assert.equal((await run.nodeRed.adminFetch(path, { method: "POST", headers, body })).status, 202);
        });
        assert.ok(body.includes(barcodeMeasured ?? "nothing"));
      }
    });

    it("takes no JSON without a barcode, nor a number, which has lost digits", async () => {
      const nothing = nodeNamed(await readExample("07"), "What to do");
      const said = new EventEmitter();
      const editorEvents = await openEditorEvents(
        run.nodeRed.url,
        ({ kind, nodeId, text }) => kind === "debug" && nodeId === nothing.id && said.emit("debug", text),
        () => undefined,
      );
      for (const body of ["{}", `{"barcode":${barcode}}`]) {
        const heard = once(said, "debug");
        await run.nodeRed.adminFetch(path, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body,
        });
        assert.match(String(await heard), /^The scan is empty, .* scan again\.$/);
      }
      editorEvents.close();
      assert.deepEqual(run.simulator.requests, []);
    });
  });

  describe("08: types like a keyboard", () => {
    const path = "/dimensioner/packing-table";
    let browser: Browser;

    before(async () => {
      browser = await sharedBrowser();
    });

    it("shows each scan with its result, and a hostile one as text", async () => {
      const page = await browser.newPage();
      page.setDefaultTimeout(longestWaitMs);
      const problems: string[] = [];
      page.on("pageerror", (error) => problems.push(error.message));
      page.on("dialog", (dialog) => problems.push(dialog.message()));
      await page.goto(run.nodeRed.url + path);
      await page.locator("#barcode:focus").waitFor();
      const lines = page.locator("li");
      const done = page.locator("li[class]:not([class=''])");

      await page.keyboard.type(barcode);
      await page.keyboard.press("Enter");
      await done.waitFor();
      assert.equal(await done.getAttribute("class"), "good", await done.innerText());
      assert.match(await done.innerText(), /^395212340000004173: 33\.5 × 21 × 12\.5 cm, [\d.]+ kg$/);

      const hostile = "<img src=x onerror=alert(1)>";
      run.simulator.newer.setParcel(null);
      await page.keyboard.type(hostile);
      await page.keyboard.press("Enter");
      await page.locator("li.bad").waitFor();
      const told = await lines.first().innerText();
      assert.ok(told.startsWith(`${hostile}: Measurement failed`), told);
      assert.equal(await page.locator("li img").count(), 0);
      assert.equal(run.simulator.newer.actions.measures, 2);

      await page.keyboard.press("Enter");
      assert.equal(await lines.count(), 2, "an empty line is no scan");
      assert.deepEqual(problems, []);
      await page.close();
    });

    it("gets each key of a scan, right after the page has loaded and wherever the focus is", async () => {
      const page = await browser.newPage();
      page.setDefaultTimeout(longestWaitMs);
      const measures = async (
        where: string,
        prepare: () => Promise<unknown>,
        end = "Enter",
      ): Promise<void> => {
        const measured = run.simulator.nextRequest(({ path }) => path === "/api/v1/measure");
        await prepare();
        await page.keyboard.type(barcode);
        await page.keyboard.press(end);
        const query = new URLSearchParams((await measured).query.toLowerCase());
        assert.equal(query.get("transactionreference"), barcode, where);
      };
      await measures("the page has just loaded", () =>
        page.goto(run.nodeRed.url + path, { waitUntil: "load" }),
      );
      await measures("Tab has moved the focus away", () => page.keyboard.press("Tab"));
      await measures("a result was clicked", () => page.locator("li").first().click());
      await measures("nothing has the focus", () =>
        page.locator("#barcode").evaluate((field) => field.blur()),
      );
      await measures("the scanner ends with Tab", () => page.locator("#barcode").focus(), "Tab");
      await page.keyboard.press("Control+a");
      assert.equal(await page.locator("#barcode").inputValue(), "", "a shortcut is no scan");
      await page.close();
    });

    it("measures for no other page, and not without a barcode", async () => {
      const post = (contentType: string, body: string) =>
        run.nodeRed.adminFetch(path, { method: "POST", headers: { "content-type": contentType }, body });
      const form = await post("application/x-www-form-urlencoded", `barcode=${barcode}`);
      assert.equal(form.status, 415);
      assert.equal((await post("text/plain", `{"barcode":"${barcode}"}`)).status, 415);
      const empty = await post("application/json", "{}");
      assert.equal(empty.status, 400);
      assert.deepEqual(await empty.json(), { text: "The scan is empty. Nothing was done." });
      assert.deepEqual(run.simulator.requests, []);
    });

    it("says what is wrong, and that nobody knows", async () => {
      run.simulator.faults.add({ surface: "newer", path: "/api/v1/measure", fault: { kind: "reset" } });
      const answer = await run.nodeRed.adminFetch(path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ barcode }),
      });
      assert.equal(answer.status, 502);
      const { text } = (await answer.json()) as { text: string };
      assert.match(text, /^The connection .* was lost/);
    });
  });
});
