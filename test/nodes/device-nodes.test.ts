import assert from "node:assert/strict";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { TestFlow } from "../support/flow.ts";
import { freePort } from "../support/servers.ts";

describe("the device's video and images", () => {
  let sim: Simulator;
  let flow: TestFlow;
  const start = async (
    node: { type: string } & Record<string, unknown>,
    device: object = {},
    options: Parameters<typeof startSimulator>[0] = {},
  ): Promise<void> => {
    // While it is switched off, no other process gets a port that the system does not give away.
    sim = await startSimulator({ ports: { newer: await freePort() }, ...options });
    flow = await TestFlow.start([
      { id: "device", type: "dimensioner-device", address: sim.newer.origin, ...device },
      { id: "node", z: "tab", device: "device", ...node },
      { id: "control", z: "tab", type: "dimensioner-video-control", device: "device", action: "msg" },
      { id: "measure", z: "tab", type: "dimensioner-measure", device: "device" },
    ]);
  };

  afterEach(async () => {
    await flow.stop();
    await sim.close();
  });

  it("says that the operating mode is wrong, and what to do", async () => {
    await start({ type: "dimensioner-fetch-video" }, {}, { mode: "measurement-only" });
    const wayOut = {
      start: /operating mode.*portal/,
      stop: /Use stop in Video Only/,
      cancel: /operating mode.*portal/,
    };
    for (const [action, words] of Object.entries(wayOut)) {
      const { error } = await flow.run("control", { action });
      assert.equal(error?.code, "ERR_WRONG_MODE");
      assert.equal(error?.cause.outcome, "refused");
      assert.match(error?.message ?? "", words);
    }
    assert.equal((await flow.run("node", {})).error?.code, "ERR_WRONG_MODE");
  });

  it("takes the action from the message, and refuses any other", async () => {
    await start({ type: "dimensioner-fetch-video" }, {}, { mode: "video-only" });
    const { sent } = await flow.run("control", {
      action: "start",
      transactionReference: "R",
      payload: "scan",
    });
    const msg = sent[0]?.msg ?? {};
    const { at, ...video } = msg["video"] as { at: string };
    assert.deepEqual(video, { action: "start", transactionReference: "R" });
    assert.ok(Math.abs(Date.parse(at) - Date.now()) < 60_000);
    assert.equal(msg["payload"], "scan");
    assert.equal(sim.newer.state.recording?.references.transactionReference, "R");
    for (const action of ["pause", "", undefined, 1, "__proto__"]) {
      assert.equal((await flow.run("control", { action })).error?.code, "ERR_INPUT");
    }
  });

  it("waits for a video that is being encoded, by download and by stream", async () => {
    for (const method of ["download", "stream"]) {
      await start(
        { type: "dimensioner-fetch-video", method, wait: 60 },
        {},
        { mode: "video-only", encodingMs: 600 },
      );
      await flow.run("control", { action: "start" });
      await flow.run("control", { action: "stop" });
      // Also where encoding has ended by then.
      sim.faults.add({ path: `/api/v1/video/${method}`, fault: { kind: "status", status: 404 } });
      const ended = flow.run("node", { transactionReference: "R" });
      await flow.untilStatus("node", ({ text }) => text === "waiting for video");
      const { error, sent } = await ended;
      assert.equal(error, undefined);
      assert.equal(sent[0]?.msg["filename"], "R-video.mp4");
      assert.deepEqual(sent[0]?.msg["payload"], Buffer.concat([...(sim.newer.readSavedVideo() ?? [])]));
      await flow.stop();
      await sim.close();
    }
    await start({ type: "dimensioner-fetch-video", wait: 0 }, {}, { mode: "video-only" });
    const { error } = await flow.run("node", {});
    assert.equal(error?.code, "ERR_NO_VIDEO");
    assert.equal(error?.cause.outcome, null);
  });

  it("holds back start and cancel while the video is transferred, but neither stop nor a measure", async () => {
    await start({ type: "dimensioner-fetch-video" }, {}, { mode: "video-only", videoBytes: 2_000_000 });
    await flow.run("control", { action: "start" });
    await flow.run("control", { action: "stop" });
    const dripping = sim.faults.add({
      surface: "newer",
      path: "/api/v1/video/download",
      times: 0,
      fault: { kind: "drip", bytes: 4_000, everyMs: 10 },
    });
    const transfer = flow.run("node", {});
    await flow.untilStatus("node", ({ text }) => text.includes(" of "));
    await flow.run("control", { action: "stop" });
    const cancelled = flow.run("control", { action: "cancel" });
    await flow.untilStatus("control", ({ text }) => text === "in queue: 1");
    await flow.run("measure", {});
    assert.equal(sim.newer.actions.cancels, 0);
    sim.faults.remove(dripping);
    assert.equal((await transfer).error, undefined);
    assert.equal((await cancelled).error, undefined);
    assert.equal(sim.newer.actions.cancels, 1);
  });

  it("fetches each picture, and takes the kind from the message", async () => {
    await start({ type: "dimensioner-fetch-image", image: "msg" });
    const { imageIdentifier } = (await flow.run("measure", {})).sent[0]?.msg as { imageIdentifier: string };
    for (const [image, contentType] of [
      ["annotated", "image/jpeg"],
      ["color", "image/jpeg"],
      ["depth", "image/bmp"],
    ]) {
      const { sent } = await flow.run("node", { image, imageIdentifier });
      assert.equal(sent[0]?.msg["contentType"], contentType);
      assert.equal(
        sent[0]?.msg["filename"],
        `${imageIdentifier}-${image}.${image === "depth" ? "bmp" : "jpg"}`,
      );
    }
    assert.equal((await flow.run("node", { image: "thermal", imageIdentifier })).error?.code, "ERR_INPUT");
  });

  it("says that the earlier generation has neither images nor video", async () => {
    await start({ type: "dimensioner-fetch-image" }, { generation: "earlier" });
    const image = await flow.run("node", { imageIdentifier: "1" });
    const video = await flow.run("control", { action: "start" });
    assert.deepEqual(
      [image.error?.code, image.error?.cause.outcome, video.error?.code, video.error?.cause.outcome],
      ["ERR_CONFIG", null, "ERR_CONFIG", "not-sent"],
    );
    assert.match(video.error?.message ?? "", /earlier device has no video/);
    assert.equal(sim.requests.length, 0);
  });

  it("says that nobody is there when the device is switched off, and measures again when it is back", async () => {
    await start({ type: "dimensioner-fetch-video" });
    sim.newer.setPower(false);
    const { error } = await flow.run("measure", {});
    assert.equal(error?.code, "ERR_UNREACHABLE");
    assert.deepEqual([error?.cause.outcome, error?.cause.retryable], ["not-sent", true]);
    sim.newer.setPower(true);
    assert.equal((await flow.run("measure", {})).error, undefined);
  });
});
