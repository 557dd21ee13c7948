import assert from "node:assert/strict";
import { filesIn } from "./archive.ts";
import { startExamples, type ExamplesRun } from "./several-examples.ts";

const barcode = "395212340000004173";
const unknown = "Outcome unknown: check the device before pressing again";
const nothing = "Nothing happened: correct it and press again";

describe("example 04, video only: whose video is saved", () => {
  let run: ExamplesRun;

  before(async () => {
    run = await startExamples(["04"]);
  });
  beforeEach(() => {
    run.simulator.reset();
    run.simulator.newer.setMode("video-only");
  });
  after(() => run.close());

  const hear = async (button: string, debug: string): Promise<string> =>
    (await run.press("04", button, [debug])).get(debug) ?? "";
  const filesOf = async (reference: string): Promise<string[]> =>
    (await filesIn(run.archive)).filter((name) => name.startsWith(`${reference}/`));
  /** From now on, the scanner reads another parcel. */
  const nextParcel = () =>
    run.redeploy((node) => (node["payload"] === barcode ? { ...node, payload: "OTHER-4711" } : node));

  it("saves no video under the name of the parcel before, when nobody knows whether the next one is recorded", async () => {
    await hear("Scan a parcel", "Recording");
    await hear("The parcel is packed", "Archived: video");
    const saved = await filesOf(barcode);
    assert.equal(saved.length, 1);
    await nextParcel();
    const lost = { kind: "close", acts: true } as const;
    run.simulator.faults.add({ surface: "newer", path: "/api/v1/video/start", fault: lost });
    await hear("Scan a parcel", unknown);
    for (const button of ["The parcel is packed", "Save the video again"]) {
      assert.match(await hear(button, nothing), /^No parcel is being recorded: scan one first/);
    }
    assert.deepEqual(await filesOf(barcode), saved);
    await run.redeploy();
  });

  it("saves a video of which it is not certain whose it is only when somebody says so", async () => {
    const before = await filesOf(barcode);
    await hear("Scan a parcel", "Recording");
    const lost = { kind: "close", acts: false } as const;
    run.simulator.faults.add({ surface: "newer", path: "/api/v1/video/stop", fault: lost });
    await hear("The parcel is packed", unknown);
    assert.equal(
      await hear("The parcel is packed", "Not saved: whose is it?"),
      `It is not certain that this recording is of ${barcode}: nothing was saved under its name. If it is, press “Save the video again”. If not, press “Discard the video”, and record the parcel again.`,
    );
    assert.deepEqual(await filesOf(barcode), before);
    await hear("Save the video again", "Archived: video");
    assert.equal((await filesOf(barcode)).length, before.length + 1);
  });
});
