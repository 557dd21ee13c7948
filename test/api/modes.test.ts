import assert from "node:assert/strict";
import { startSimulator, type Simulator, type StartOptions } from "../../src/simulator/index.ts";
import { TestFlow, type Message } from "../support/flow.ts";

const deviceReference = "ABCD2345";
const wrongMode = "ERR_WRONG_MODE";
/** The barcode of the catalogue's cube. */
const barcode = "395212340000005323";

/** What each mode lets a node do: "ok", or the error. */
const modes = {
  "measurement-only": {
    measure: "ok",
    start: wrongMode,
    stop: wrongMode,
    cancel: wrongMode,
    video: wrongMode,
  },
  "legal-for-trade": {
    measure: "ok",
    start: wrongMode,
    stop: wrongMode,
    cancel: wrongMode,
    video: wrongMode,
  },
  "video-with-measurement": {
    measure: "ok",
    start: "ok",
    stop: wrongMode,
    cancel: "ok",
    video: "ERR_NO_VIDEO",
  },
  "video-only": {
    measure: "ERR_MEASURE_FAILED",
    start: "ok",
    stop: "ok",
    cancel: "ok",
    video: "ERR_NO_VIDEO",
  },
} as const;

describe("the API, mode by mode", () => {
  let sim: Simulator;
  let flow: TestFlow;

  const start = async (options: StartOptions): Promise<void> => {
    sim = await startSimulator(options);
    flow = await TestFlow.start(
      [
        { id: "device", type: "dimensioner-device", address: sim.newer.origin, timeout: 60 },
        { id: "cloud", type: "dimensioner-cloud", baseUrl: sim.cloud.origin, timeout: 60 },
        { id: "measure", z: "tab", type: "dimensioner-measure", device: "device" },
        { id: "video", z: "tab", type: "dimensioner-fetch-video", device: "device", wait: 0 },
        ...(["start", "stop", "cancel"] as const).map((action) => ({
          id: action,
          z: "tab",
          type: "dimensioner-video-control",
          device: "device",
          action,
        })),
        ...(["start", "stop", "cancel", "measure"] as const).map((action) => ({
          id: `remote ${action}`,
          z: "tab",
          type: "dimensioner-remote-trigger",
          cloud: "cloud",
          deviceReference,
          action,
        })),
        { id: "list", z: "tab", type: "dimensioner-media-list", cloud: "cloud", contentType: "video/mp4" },
      ],
      { cloud: { token: sim.cloud.token } },
    );
  };
  afterEach(async () => {
    await flow.stop();
    await sim.close();
  });

  const endOf = async (node: string, msg: Message = {}): Promise<string> =>
    (await flow.run(node, { transactionReference: "R", ...msg })).error?.code ?? "ok";
  /** The videos of a transaction, as the media list node sees them. */
  const videosOf = async (transactionId: string | undefined): Promise<number> => {
    const { sent } = await flow.run("list", { transactionId });
    return (sent[0]?.msg["payload"] as unknown[]).length;
  };
  const lastTransaction = () => sim.cloud.transactions.at(-1);

  for (const [mode, actions] of Object.entries(modes)) {
    for (const [action, end] of Object.entries(actions)) {
      it(`${mode}: ${action} ends in ${end}`, async () => {
        await start({ mode: mode as keyof typeof modes });
        assert.equal(await endOf(action), end);
        const { measures, starts, stops, cancels } = sim.newer.actions;
        const acted = measures + starts + stops + cancels;
        // What a stop or cancel does while nothing is recorded is nobody's knowledge.
        const isKnown = action === "measure" || action === "start" || end !== "ok";
        assert.ok(!isKnown || acted === (end === "ok" ? 1 : 0), `the machine has acted ${acted} times`);
      });
    }
  }

  it("Legal for Trade: the result says so, and in no other mode", async () => {
    await start({ mode: "legal-for-trade" });
    const legal = async (): Promise<unknown> => {
      const { sent } = await flow.run("measure", {});
      return (sent[0]?.msg["payload"] as Record<string, unknown>)["legalForTrade"];
    };
    assert.equal(await legal(), true);
    sim.newer.setMode("measurement-only");
    assert.equal(await legal(), false);
  });

  it("remote triggers: video wants a video mode, stop wants Video Only, measure wants a mode that measures", async () => {
    await start({ mode: "measurement-only" });
    const ends = async () => [
      await endOf("remote start"),
      await endOf("remote stop"),
      await endOf("remote cancel"),
      await endOf("remote measure"),
    ];
    const refused = "ERR_BAD_DEVICE_REFERENCE";
    assert.deepEqual(await ends(), [refused, refused, refused, "ok"]);
    sim.newer.setMode("video-with-measurement");
    assert.deepEqual(await ends(), ["ok", refused, "ok", "ok"]);
    sim.newer.setMode("video-only");
    assert.deepEqual(await ends(), ["ok", "ok", "ok", "ERR_MEASURE_FAILED"]);
  });

  for (const way of ["", "remote "]) {
    it(`${way}start, then stop in Video Only: a transaction of its own, with the references of the start`, async () => {
      await start({ mode: "video-only" });
      assert.equal(await endOf(`${way}start`), "ok");
      assert.equal(sim.newer.state.recording?.references.transactionReference, "R");
      assert.equal(await endOf(`${way}stop`, { transactionReference: "another" }), "ok");
      const transaction = lastTransaction();
      assert.deepEqual([transaction?.kind, transaction?.transactionReference], ["video", "R"]);
      assert.equal(await videosOf(transaction?.id), 1);
    });

    it(`${way}start, then ${way}measure in Video with Measurement: ends the recording, takes the video along, and its references win`, async () => {
      await start({ mode: "video-with-measurement" });
      await endOf(`${way}start`, { transactionReference: "of the start" });
      assert.notEqual(sim.newer.state.recording, null);
      assert.equal(await endOf(`${way}measure`, { transactionReference: "of the measure" }), "ok");
      assert.equal(sim.newer.state.recording, null);
      const transaction = lastTransaction();
      assert.deepEqual(
        [transaction?.kind, transaction?.transactionReference],
        ["measurement", "of the measure"],
      );
      assert.equal(await videosOf(transaction?.id), 1);
      assert.equal(await endOf("video"), "ERR_NO_VIDEO", "it is in the cloud, not on the device");
    });

    it(`${way}cancel: clears the recording and the saved video`, async () => {
      await start({ mode: "video-only" });
      await endOf("start");
      await endOf("stop");
      assert.equal(await endOf("video"), "ok");
      await endOf("start");
      assert.equal(await endOf(`${way}cancel`), "ok");
      assert.equal(sim.newer.state.recording, null);
      assert.equal(await endOf("video"), "ERR_NO_VIDEO");
    });
  }

  it("Video Only: the video stays on the device until the next start", async () => {
    await start({ mode: "video-only" });
    await endOf("start");
    await endOf("stop");
    assert.equal(await endOf("video"), "ok");
    assert.equal(await endOf("video"), "ok");
    await endOf("start");
    assert.equal(await endOf("video"), "ERR_NO_VIDEO");
  });

  it("Video with Measurement: the video stays on the device while measurements fail, then goes with the next that succeeds", async () => {
    await start({ mode: "video-with-measurement", parcel: null });
    await endOf("start");
    for (let tries = 0; tries < 2; tries++) {
      assert.equal(await endOf("measure"), "ERR_MEASURE_FAILED");
      assert.equal(await endOf("video"), "ok");
    }
    sim.newer.setParcel("cube");
    assert.equal(await endOf("measure"), "ok");
    assert.equal(await videosOf(lastTransaction()?.id), 1);
    assert.equal(await endOf("video"), "ERR_NO_VIDEO");
  });

  it("barcodes at the device: VIDEO_START begins, VIDEO_RESET cancels, any other measures or stops", async () => {
    await start({ mode: "video-with-measurement" });
    assert.equal(await sim.newer.scanAtDevice("VIDEO_START"), "recording-started");
    assert.equal(await sim.newer.scanAtDevice("VIDEO_RESET"), "recording-cancelled");
    await sim.newer.scanAtDevice("VIDEO_START");
    assert.equal(await sim.newer.scanAtDevice(barcode), "measured");
    assert.equal(await videosOf(lastTransaction()?.id), 1);
    sim.newer.setMode("video-only");
    await sim.newer.scanAtDevice("VIDEO_START");
    assert.equal(await sim.newer.scanAtDevice(barcode), "recording-stopped");
    assert.equal(await endOf("video"), "ok");
  });

  it("buttons at the device: start, stop and cancel do what the API does", async () => {
    await start({ mode: "video-only" });
    for (const [button, after] of [
      ["start", "ERR_NO_VIDEO"],
      ["stop", "ok"],
      ["start", "ERR_NO_VIDEO"],
      ["cancel", "ERR_NO_VIDEO"],
    ] as const) {
      await sim.newer.pressAtDevice(button);
      assert.equal(await endOf("video"), after, button);
    }
  });

  it("a scan at the device and the flow's own measure are two measurements of one parcel", async () => {
    await start({ mode: "measurement-only" });
    await sim.newer.scanAtDevice(barcode);
    assert.equal(await endOf("measure"), "ok");
    assert.deepEqual(
      sim.cloud.transactions.map(({ trigger }) => trigger),
      ["scan", "local-api"],
    );
  });

  it("whatever triggers it: every measurement of the newer device reaches the cloud", async () => {
    await start({ mode: "measurement-only" });
    await endOf("measure");
    await endOf("remote measure");
    await sim.newer.scanAtDevice(barcode);
    await sim.newer.pressAtDevice("measure");
    assert.deepEqual(
      sim.cloud.transactions.map(({ trigger }) => trigger),
      ["local-api", "cloud", "scan", "button"],
    );
  });

  it("media come later than the act: a list that is asked for at once is empty", async () => {
    await start({ mode: "video-with-measurement", mediaDelayMs: 60_000 });
    await endOf("start");
    assert.equal(await endOf("measure"), "ok");
    assert.equal(lastTransaction()?.media.length, 0);
    assert.equal(await videosOf(lastTransaction()?.id), 0);
  });
});
