import assert from "node:assert/strict";
import { nodeNamed, readExample } from "../support/examples.ts";
import { until } from "../archive/support.ts";
import { filesIn } from "./archive.ts";
import { Listener } from "./listener.ts";
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
    (await filesIn(run.files)).filter((name) => name.startsWith(`${reference}/`));
  /** From now on, the scanner reads another parcel. */
  const nextParcel = () =>
    run.redeploy((node) => (node["payload"] === barcode ? { ...node, payload: "OTHER-4711" } : node));
  const starts = () => run.simulator.requestsTo("newer", "/api/v1/video/start").length;
  /** Lets the device not answer to a start until the fault is removed. */
  const holdStart = () =>
    run.simulator.faults.add({
      surface: "newer",
      path: "/api/v1/video/start",
      times: 0,
      fault: { kind: "delay", ms: 600_000 },
    });
  /** Presses a button and waits for nothing. Node-RED takes what is pressed in its order. */
  const pressOnly = async (button: string, props: readonly object[] = []) => {
    const { id } = nodeNamed(await readExample("04"), button);
    const answer = await run.nodeRed.adminFetch(`/inject/${id}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ __user_inject_props__: props }),
    });
    assert.equal(answer.status, 200);
  };
  const scanOnly = (code: string) => pressOnly("Scan a parcel", [{ p: "payload", v: code, vt: "str" }]);

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

  it("refuses another parcel while the video of the first one is being started", async () => {
    const listener = new Listener();
    await listener.open(run.nodeRed.url, await readExample("04"));
    const held = holdStart();
    await scanOnly(barcode);
    await scanOnly("OTHER-4711");
    run.simulator.faults.remove(held);
    assert.match(
      await listener.next(),
      /: The video of 395212340000004173 is not saved yet: .* Nothing was done with OTHER-4711\.$/,
    );
    assert.equal(await listener.next(), `Recording: ${barcode}`);
    listener.close();
    assert.equal(starts(), 1);
    await hear("Discard the video", "Discarded");
  });

  it("remembers no parcel after a deploy that has cut off a start, and takes the next one", async () => {
    await hear("Scan a parcel", "Recording");
    await hear("The parcel is packed", "Archived: video");
    const held = holdStart();
    await scanOnly("OTHER-4711");
    await until(() => starts() === 2, "the device is asked to start another video");
    await run.redeploy();
    run.simulator.faults.remove(held);
    assert.match(await hear("The parcel is packed", nothing), /^No parcel is being recorded/);
    assert.equal(await hear("Scan a parcel", "Recording"), barcode);
    await hear("Discard the video", "Discarded");
  });

  it("gives a parcel whose video was discarded no video of the next parcel", async () => {
    const { faults } = run.simulator;
    const before = await filesOf(barcode);
    await hear("Scan a parcel", "Recording");
    const path = "/api/v1/video/download";
    const encoding = { kind: "status", status: 404 } as const;
    const rule = faults.add({ surface: "newer", path, times: 0, fault: encoding });
    const downloads = () => run.simulator.requestsTo("newer", path).length;
    const listener = new Listener();
    await listener.open(run.nodeRed.url, await readExample("04"));
    await pressOnly("The parcel is packed");
    await until(() => downloads() > 0, "the device is asked for the video");
    await pressOnly("Discard the video");
    assert.match(await listener.next(), /^Discarded: /);
    const asked = downloads();
    await scanOnly("OTHER-4711");
    assert.equal(await listener.next(), "Recording: OTHER-4711");
    await pressOnly("The parcel is packed");
    await until(() => downloads() > asked, "the device is asked for the video again");
    faults.remove(rule);
    assert.match(await listener.next(), /^Archived: video: .*OTHER-4711/);
    listener.close();
    assert.deepEqual(await filesOf(barcode), before);
    assert.equal((await filesOf("OTHER-4711")).length, 1);
  });
});
