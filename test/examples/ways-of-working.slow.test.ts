import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { openEditorEvents } from "../support/run-flow.ts";
import { nodeNamed, readExample } from "../support/examples.ts";
import { filesIn, served, sha256 } from "./archive.ts";
import { startExamples, type ExamplesRun } from "./several-examples.ts";

const barcode = "395212340000004173";

describe("the examples 04, 05, 06 and 09, in one Node-RED", () => {
  let run: ExamplesRun;

  /** Presses and resolves with what the one awaited debug node said. */
  const hear = async (example: string, button: string, debug: string): Promise<string> =>
    (await run.press(example, button, [debug])).get(debug) ?? "";

  before(async () => {
    run = await startExamples(["04", "05", "06", "09"]);
  });
  beforeEach(() => run.simulator.reset());
  after(() => run.close());

  /** Lets one test not wait for long for what does not come; the others wait as the examples do. */
  const withImpatient = async (
    type: string,
    properties: object,
    body: () => Promise<void>,
  ): Promise<void> => {
    await run.redeploy((node) => (node.type === type ? { ...node, ...properties } : node));
    await body();
    await run.redeploy();
  };

  describe("04: video only", () => {
    beforeEach(() => run.simulator.newer.setMode("video-only"));

    it("records from the scan to the second button, waits for the encoding and saves the video", async () => {
      const { simulator, files } = run;
      assert.equal(await hear("04", "Scan a parcel", "Recording"), barcode);
      const told = await hear("04", "The parcel is packed", "Archived: video");
      const { path, sha256: toldHash } = JSON.parse(told) as { path: string; sha256: string };
      const saved = Buffer.concat([...(simulator.newer.readSavedVideo() ?? [])]);
      assert.ok(saved.length > 0);
      assert.equal(sha256(await readFile(path)), sha256(saved));
      assert.equal(toldHash, sha256(saved));
      const [file = "", ...others] = await filesIn(files);
      assert.match(file, /^395212340000004173\/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z\.mp4$/);
      assert.deepEqual(others, []);
      const paths = simulator.requestsTo("newer", "/api/v1/video/st").map((request) => request.path);
      assert.deepEqual(paths, ["/api/v1/video/start", "/api/v1/video/stop"]);

      const again = await hear("04", "Save the video again", "Archived: video");
      assert.equal((JSON.parse(again) as { path: string }).path, path, "the same file, not a second one");
    });

    it("discards a video, and then knows of no parcel", async () => {
      await hear("04", "Scan a parcel", "Recording");
      await hear("04", "Discard the video", "Discarded");
      assert.equal(run.simulator.newer.readSavedVideo(), null);
      const nothing = "Nothing happened: correct it and press again";
      assert.match(await hear("04", "The parcel is packed", nothing), /No parcel is being recorded/);
      assert.deepEqual(run.simulator.requestsTo("newer", "/api/v1/video/stop"), []);
    });

    it("records no other parcel before the video of the first one is saved or discarded", async () => {
      const { simulator } = run;
      const starts = () => simulator.requestsTo("newer", "/api/v1/video/start").length;
      await hear("04", "Scan a parcel", "Recording");
      await run.redeploy((node) => (node["payload"] === barcode ? { ...node, payload: "OTHER-4711" } : node));
      const nothing = "Nothing happened: correct it and press again";
      const refused =
        /^The video of 395212340000004173 is not saved yet: .* Nothing was done with OTHER-4711\.$/;
      assert.match(await hear("04", "Scan a parcel", nothing), refused);
      assert.equal(starts(), 1);
      const video = "/api/v1/video/download";
      simulator.faults.add({
        surface: "newer",
        path: video,
        times: 0,
        fault: { kind: "status", status: 400 },
      });
      await hear("04", "The parcel is packed", "The video is not saved: save it again");
      assert.match(await hear("04", "Scan a parcel", nothing), refused);
      simulator.faults.clear();
      await hear("04", "Save the video again", "Archived: video");
      assert.equal(await hear("04", "Scan a parcel", "Recording"), "OTHER-4711");
      assert.equal(starts(), 2);
      await run.redeploy();
      assert.match(await hear("04", "Scan a parcel", nothing), /^The video of OTHER-4711 is not saved yet/);
      await hear("04", "Discard the video", "Discarded");
      await hear("04", "Scan a parcel", "Recording");
    });

    it("says what is wrong in another mode, when nobody knows, and when the video cannot be read", async () => {
      const { newer, faults } = run.simulator;
      await hear("04", "Scan a parcel", "Recording");
      const video = "/api/v1/video/download";
      faults.add({ surface: "newer", path: video, times: 0, fault: { kind: "status", status: 400 } });
      await hear("04", "The parcel is packed", "The video is not saved: save it again");
      faults.add({ surface: "newer", path: "/api/v1/video/start", fault: { kind: "reset" } });
      await hear("04", "Scan a parcel", "Outcome unknown: check the device before pressing again");
      newer.setMode("measurement-only");
      const nothing = "Nothing happened: correct it and press again";
      assert.match(await hear("04", "Scan a parcel", nothing), /operating mode/);
    });
  });

  describe("05: one message per parcel", () => {
    const sizes = async (): Promise<string[]> => {
      const { cloud } = run.simulator;
      const [transaction] = cloud.transactions;
      const pictures = (transaction?.media ?? []).filter(({ contentType }) => contentType !== "video/mp4");
      return Promise.all(
        pictures.map(async ({ contentId, description }) => {
          const url = `${cloud.origin}/api/transactionmedia/${transaction?.id}/${contentId}`;
          return `${description} ${(await served(url, cloud.token)).length}`;
        }),
      );
    };

    it("joins all pictures", async () => {
      const told = await hear("05", "Scan a parcel", "Complete");
      const heard = told.split(", ").map((one) => one.replace(/\.(jpg|bmp)/, ""));
      assert.equal(heard.length, 3);
      assert.deepEqual(heard.toSorted(), (await sizes()).toSorted());
    });

    it("goes on without one that cannot be fetched, and says which", async () => {
      const { faults } = run.simulator;
      const path = "^/api/transactionmedia/[^/]+/.";
      faults.add({ surface: "cloud", path, fault: { kind: "status", status: 404 } });
      const told = await hear("05", "Scan a parcel", "Incomplete");
      assert.match(told, /^2 there\. \w+(?:Jpeg|Bit): .+/);
    });

    it("goes on with what there is when some are late, even with nothing", async () => {
      const { faults } = run.simulator;
      const path = "^/api/transactionmedia/[^/]+$";
      const late = { kind: "body", text: "[]", contentType: "application/json" } as const;
      faults.add({ surface: "cloud", path, times: 0, fault: late });
      await withImpatient("dimensioner-media-list", { wait: "5" }, async () => {
        const told = await hear("05", "Scan a parcel", "Incomplete");
        assert.match(told, /^0 there\. .+/);
        assert.equal(run.simulator.requestsTo("cloud", "/api/remotetrigger").length, 1);
      });
    });

    it("says what to do when nothing is measured", async () => {
      run.simulator.newer.setParcel(null);
      assert.match(await hear("05", "Scan a parcel", "What to do"), /Reposition the parcel/);
    });
  });

  describe("06: measure as a subroutine", () => {
    it("answers each of its callers", async () => {
      for (const button of ["Scan a parcel", "A return comes in"]) {
        const told = await hear("06", button, "Measured");
        assert.equal((JSON.parse(told) as { ok: boolean }).ok, true);
      }
      assert.equal(run.simulator.newer.actions.measures, 2);
    });

    it("brings errors back to the caller, at once and by their outcome", async () => {
      const { newer, faults } = run.simulator;
      newer.setParcel(null);
      const vain = await hear("06", "Scan a parcel", "Measurement failed: reposition the parcel");
      assert.match(vain, /Reposition the parcel/);
      newer.setLocalApi(false);
      const nothing = await hear("06", "A return comes in", "Nothing happened: correct it");
      assert.match(nothing, /Enable Local API/);
      newer.setLocalApi(true);
      faults.add({ surface: "newer", path: "/api/v1/measure", fault: { kind: "reset" } });
      await hear("06", "Scan a parcel", "Outcome unknown: check the device");
    });

    it("does not wait for ever, and passes on what comes too late", async () => {
      await withImpatient("link call", { timeout: "5" }, async () => {
        const { faults } = run.simulator;
        const late = { kind: "delay", ms: 600_000 } as const;
        const held = faults.add({ surface: "newer", path: "/api/v1/measure", times: 0, fault: late });
        const told = await hear("06", "Scan a parcel", "No answer in time: check the device");
        assert.match(told, /timeout/);
        const measured = nodeNamed(await readExample("06"), "Measured");
        const passedOn = Promise.withResolvers<void>();
        const editorEvents = await openEditorEvents(
          run.nodeRed.url,
          ({ kind, nodeId }) => kind === "debug" && nodeId === measured.id && passedOn.resolve(),
          () => passedOn.reject(new Error("Node-RED has ended.")),
        );
        faults.remove(held);
        await passedOn.promise;
        editorEvents.close();
      });
      await hear("06", "A return comes in", "Measured");
      assert.equal(run.simulator.newer.actions.measures, 2);
    });
  });

  describe("09: many docks, one flow", () => {
    it("measures at the dock of the scanner, on either generation", async () => {
      const { newer, earlier } = run.simulator;
      assert.match(
        await hear("09", "Scan a parcel at dock 1", "Measured"),
        /^Dock 1: 33.* × .* × .* cm, .* kg$/,
      );
      assert.deepEqual([newer.actions.measures, earlier.actions.measures], [1, 0]);
      assert.match(await hear("09", "Scan a parcel at dock 2", "Measured"), /^Dock 2: 33.* × .* × .* cm$/);
      assert.deepEqual([newer.actions.measures, earlier.actions.measures], [1, 1]);
    });

    it("measures nowhere when it does not know the scanner", async () => {
      assert.match(
        await hear("09", "Scan with a new scanner", "What to do"),
        /scanner\/3 belongs to no dock/,
      );
      assert.deepEqual(run.simulator.requests, []);
    });

    it("tells a failed measurement and an unknown outcome apart", async () => {
      const { newer, faults } = run.simulator;
      newer.setParcel(null);
      const vain = "Measurement failed: reposition the parcel";
      assert.match(await hear("09", "Scan a parcel at dock 1", vain), /^Dock 1: .+/);
      faults.add({ surface: "earlier", path: "/api/measure", fault: { kind: "reset" } });
      assert.match(await hear("09", "Scan a parcel at dock 2", "What to do"), /may have executed|Check/);
    });

    it("says in the device's words why a measurement failed, whichever part of its answer has them", async () => {
      const fail = async (dock: 1 | 2, set: Record<string, unknown>): Promise<string> => {
        const [surface, path] =
          dock === 1 ? (["newer", "/api/v1/measure"] as const) : (["earlier", "/api/measure"] as const);
        run.simulator.faults.add({ surface, path, fault: { kind: "json-patch", set } });
        const failed = "Measurement failed: reposition the parcel";
        return hear("09", `Scan a parcel at dock ${dock}`, failed);
      };
      assert.equal(await fail(1, { errorCode: 7, errorMessage: "Too dark" }), "Dock 1: Too dark");
      assert.equal(await fail(1, { errorCode: 7, errorMessage: null }), "Dock 1: error 7");
      const object = { "measuredObjects.0.errorCode": 9, "measuredObjects.0.errorMessage": "(9) - Too dark" };
      assert.equal(await fail(2, object), "Dock 2: (9) - Too dark");
      const unclear = "no parcel was found, or the number of objects is wrong";
      assert.equal(await fail(1, { objectCount: 0, measuredObjects: [] }), `Dock 1: ${unclear}`);
      assert.equal(await fail(2, { objectCount: 3 }), `Dock 2: ${unclear}`);
    });
  });
});
