import assert from "node:assert/strict";
import { startSimulator, type Simulator, type StartOptions } from "../../src/simulator/index.ts";
import { until } from "../archive/support.ts";
import { withFolder } from "../media/support.ts";
import { TestFlow, type FlowNode, type Message } from "../support/flow.ts";
import { holdSyncs } from "../support/hold-syncs.ts";

const deviceReference = "ABCD2345";

describe("which parcel a recording belongs to", () => {
  let sim: Simulator;
  let flow: TestFlow;

  /** The same three nodes for a device on the local network and for the cloud. */
  const nodes = (surface: "local" | "cloud"): FlowNode[] => {
    const config = [
      { id: "device", type: "dimensioner-device", address: sim.newer.origin, timeout: 60 },
      { id: "cloud", type: "dimensioner-cloud", baseUrl: sim.cloud.origin, timeout: 60 },
      { id: "fetch", z: "tab", type: "dimensioner-fetch-video", device: "device", wait: 5 },
    ];
    const remote = { type: "dimensioner-remote-trigger", cloud: "cloud", deviceReference };
    const video = { type: "dimensioner-video-control", device: "device" };
    const acts = ["start", "stop", "cancel"].map((action) => ({
      id: action,
      z: "tab",
      action,
      ...(surface === "cloud" ? remote : video),
    }));
    const measure =
      surface === "cloud"
        ? { ...remote, action: "measure" }
        : { type: "dimensioner-measure", device: "device" };
    return [...config, ...acts, { id: "measure", z: "tab", ...measure }];
  };
  const start = async (surface: "local" | "cloud" = "local", options: StartOptions = {}): Promise<void> => {
    sim = await startSimulator({ mode: "video-with-measurement", ...options });
    flow = await TestFlow.start(nodes(surface), { cloud: { token: "simulator" } });
  };
  const run = async (id: string, transactionReference?: string): Promise<Message> => {
    const { error, sent } = await flow.run(id, { transactionReference });
    assert.equal(error, undefined);
    return sent[0]?.msg ?? {};
  };
  const recordingOf = ({ video }: Message): Message => (video ?? {}) as Message;
  const cloud = async (path: string): Promise<Response> =>
    fetch(`${sim.cloud.origin}/api/transactionmedia/${path}`, {
      headers: { authorization: "Bearer simulator" },
    });
  /** What the cloud's video of a parcel's latest transaction was started for. */
  const videoOf = async (reference: string): Promise<string | undefined> => {
    const transaction = sim.cloud.transactions.findLast((one) => one.transactionReference === reference);
    assert.ok(transaction !== undefined);
    const media = (await (await cloud(transaction.id)).json()) as {
      contentId: string;
      contentType: string;
    }[];
    const video = media.find(({ contentType }) => contentType === "video/mp4");
    if (video === undefined) {
      return undefined;
    }
    const content = await (await cloud(`${transaction.id}/${video.contentId}`)).arrayBuffer();
    return /recording \S+ for (\S+)/.exec(Buffer.from(content).toString("latin1"))?.[1];
  };

  afterEach(async () => {
    await flow.stop();
    await sim.close();
  });

  for (const surface of ["local", "cloud"] as const) {
    it(`is told where a second scan has overwritten the first one's, ${surface}`, async () => {
      await start(surface);
      await run("start", "A");
      await run("start", "B");
      const first = recordingOf(await run("measure", "A"));
      assert.equal(first["recording"], "overwritten");
      assert.equal((first["by"] as Message)["transactionReference"], "B");
      assert.equal(first["transactionReference"], "A");
      assert.equal(
        await videoOf("A"),
        "B",
        "the device links what it has: this must not become evidence of A",
      );
      const second = recordingOf(await run("measure", "B"));
      assert.deepEqual([second["recording"], second["transactionReference"]], ["taken", "B"]);
      assert.equal(await videoOf("B"), undefined, "nobody needs to wait for it");
    });

    it(`is its own where each parcel is measured before the next start, ${surface}`, async () => {
      await start(surface);
      for (const parcel of ["A", "B"]) {
        const { at } = recordingOf(await run("start", parcel));
        const video = recordingOf(await run("measure", parcel));
        assert.deepEqual(video, { action: "start", at, transactionReference: parcel, recording: "own" });
        assert.equal(await videoOf(parcel), parcel);
      }
    });
  }

  it("is known over a deploy, and not after a restart", async () => {
    await start();
    await run("start", "A");
    await flow.deploy(nodes("local"), { cloud: { token: "simulator" } });
    assert.equal(recordingOf(await run("measure", "A"))["recording"], "own");
    // As a message that was kept over a restart comes back: nobody here has followed its start.
    const video = { action: "start", at: "2026-11-22T09:00:00.000Z", transactionReference: "B" };
    const { sent } = await flow.run("measure", { transactionReference: "B", video });
    assert.deepEqual(sent[0]?.msg["video"], { ...video, recording: "unknown" });
  });

  it("is not mentioned where nobody has started a recording", async () => {
    await start();
    assert.equal("video" in (await run("measure", "A")), false);
  });

  it("is told of a failed measurement only by the one that gets it", async () => {
    await start();
    await run("start", "A");
    sim.newer.setParcel(null);
    const failed: Message = { transactionReference: "A" };
    assert.equal((await flow.run("measure", failed)).error?.code, "ERR_MEASURE_FAILED");
    assert.equal("video" in failed, false);
    sim.newer.setParcel("cube");
    assert.equal(recordingOf(await run("measure", "A"))["recording"], "own");
    assert.equal(await videoOf("A"), "A");
  });

  it("waits where the measurement of its own parcel has failed, also over a restart", async () => {
    await start();
    sim.newer.setParcel(null);
    const started = { action: "start", at: "2026-11-22T09:00:00.000Z", transactionReference: "A" };
    const msg: Message = { transactionReference: "A", video: started };
    assert.equal((await flow.run("measure", msg)).error?.code, "ERR_MEASURE_FAILED");
    assert.deepEqual(msg["video"], { ...started, recording: "waiting" });
    // This process has not followed the start.
    sim.newer.setParcel("cube");
    assert.equal((await flow.run("measure", msg)).error, undefined);
    assert.deepEqual(msg["video"], { ...started, recording: "unknown" });
  });

  it("is told only by the measurement that got it, if one message is measured again", async () => {
    await start();
    const msg: Message = { transactionReference: "A" };
    assert.equal((await flow.run("start", msg)).error, undefined);
    assert.equal((await flow.run("measure", msg)).error, undefined);
    assert.equal(recordingOf(msg)["recording"], "own");
    assert.equal((await flow.run("measure", msg)).error, undefined);
    assert.equal("video" in msg, false);
    assert.equal(await videoOf("A"), undefined, "the second transaction has none");
    await run("start", "A");
    assert.equal((await flow.run("measure", msg)).error, undefined);
    assert.equal(recordingOf(msg)["recording"], "own");
    sim.newer.setParcel(null);
    assert.equal((await flow.run("measure", msg)).error?.code, "ERR_MEASURE_FAILED");
    assert.equal("video" in msg, false, "nor has one that failed");
  });

  it("is told after a stop, and with the video saved on the device", async () => {
    await start("local", { mode: "video-only" });
    await run("start", "A");
    await run("start", "B");
    const stopped = recordingOf(await run("stop", "A"));
    assert.deepEqual([stopped["action"], stopped["recording"]], ["stop", "overwritten"]);
    const fetched = await run("fetch", "A");
    assert.equal(recordingOf(fetched)["recording"], "overwritten");
    assert.match((fetched["payload"] as Buffer).toString("latin1"), /recording \S+ for B$/);
    assert.equal(recordingOf(await run("fetch", "B"))["recording"], "own");
    await run("start", "C");
    const unnamed = recordingOf(await run("stop"));
    assert.deepEqual([unnamed["transactionReference"], unnamed["recording"]], ["C", "own"]);
  });

  it("is known of a stop without a reference, or with a number, whose message then has the start's", async () => {
    await start("local", { mode: "video-only" });
    const given: Message = { transactionReference: 4711 };
    for (const msg of [{}, { transactionReference: null }, given]) {
      await flow.run("start", { transactionReference: 4711 });
      const [stopped] = (await flow.run("stop", msg)).sent;
      assert.equal(stopped?.msg["transactionReference"], "4711");
      for (const message of [stopped.msg, given]) {
        const { sent } = await flow.run("fetch", { ...message });
        const { transactionReference, recording } = recordingOf(sent[0]?.msg ?? {});
        assert.deepEqual([transactionReference, recording], ["4711", "own"]);
        assert.equal(sent[0]?.msg["filename"], "4711-video.mp4");
      }
    }
    await run("start", "A");
    assert.equal((await run("stop", "B"))["transactionReference"], "B", "it says whom the stop was for");
  });

  it("is told of the video that was fetched, also where the next start follows before it is in its file", async () => {
    await withFolder(async (folder) => {
      await start("local", { mode: "video-only" });
      const file = { output: "file", folder, folderType: "str" };
      await flow.deploy(nodes("local").map((node) => (node.id === "fetch" ? { ...node, ...file } : node)));
      await run("start", "A");
      await run("stop", "A");
      await until(() => sim.newer.readSavedVideo() !== null, "the video is encoded");
      const path = "/api/v1/video/download";
      const dripping = sim.faults.add({ path, times: 0, fault: { kind: "drip", bytes: 1, everyMs: 1_000 } });
      const fetched = run("fetch", "A");
      await until(() => sim.requestsTo("newer", path).length === 1, "the video is transferred");
      const next = run("start", "B");
      await flow.untilStatus("start", ({ text }) => text === "in queue: 1");
      const disk = await holdSyncs();
      try {
        sim.faults.remove(dripping);
        await next;
        await until(() => disk.count() > 0, "the video is to be synced");
      } finally {
        disk.release();
      }
      const video = recordingOf(await fetched);
      assert.deepEqual([video["transactionReference"], video["recording"]], ["A", "own"]);
    });
  });

  it("is not known after a measurement that has a result, but nothing in it that was measured", async () => {
    await start();
    await run("start", "A");
    const without = { kind: "json-patch", set: { "measuredObjects.0.errorCode": 7 } } as const;
    sim.faults.add({ surface: "newer", path: "/api/v1/measure", fault: without });
    assert.equal(
      (await flow.run("measure", { transactionReference: "A" })).error?.code,
      "ERR_MEASURE_FAILED",
    );
    const video = recordingOf(await run("measure", "A"));
    assert.deepEqual([video["transactionReference"], video["recording"]], ["A", "unknown"]);
    assert.equal("video" in (await run("measure", "A")), false, "it was told once");
  });

  it("leaves no node saying that it records what has ended", async () => {
    await start();
    await run("start", "A");
    assert.equal(flow.lastStatus("start")?.text, "recording started · A");
    await run("measure", "A");
    assert.equal(flow.lastStatus("start")?.text, "recording ended");
    await run("start", "B");
    await run("cancel");
    assert.equal(flow.lastStatus("start")?.text, "recording ended");
    assert.equal(flow.lastStatus("cancel")?.text, "recording cancelled");
  });
});
