import assert from "node:assert/strict";
import { readPackages } from "../archive/support.ts";
import { mp4s } from "../media/samples.ts";
import { withFolder } from "../media/support.ts";
import type { FlowNode, Message, TestFlow } from "../support/flow.ts";
import { archive, ArchiveSuite, payloadOf } from "./archive-suite.ts";

const unasked =
  "the video that was started for this parcel (recorded, not archived: no cloud and no device video)";
const unsure = unasked.replace("(recorded", "(possibly recorded");

describe("dimensioner-archive: a video was started for the parcel, and nobody is asked for it", () => {
  const suite = new ArchiveSuite();

  /** A flow with two devices; its archive takes so long for what it waits for that a test of it would fail. */
  async function startFlow(root: string, properties: object): Promise<TestFlow> {
    const { sim } = suite;
    sim.newer.setMode("video-with-measurement");
    const onDock = { z: "tab", device: "dock" };
    const archives: readonly [string, object][] = [
      ["node", { cloud: "", wait: 900, settle: 60, ...properties }],
      ["cloudy", { wait: 900 }],
    ];
    return await suite.start(
      root,
      { id: "dock", type: "dimensioner-device", name: "Dock 4", address: sim.newer.origin },
      { id: "old", type: "dimensioner-device", generation: "earlier", address: sim.earlier.origin },
      { ...onDock, id: "start", type: "dimensioner-video-control", action: "start" },
      { ...onDock, id: "stop", type: "dimensioner-video-control", action: "stop" },
      { ...onDock, id: "cancel", type: "dimensioner-video-control", action: "cancel" },
      { ...onDock, id: "measure", type: "dimensioner-measure" },
      { ...onDock, id: "measureOld", type: "dimensioner-measure", device: "old" },
      remote,
      ...archives.map(([id, given]) => archive(root, { ...given }, id)),
    );
  }

  const remote: FlowNode = {
    id: "remote",
    z: "tab",
    type: "dimensioner-remote-trigger",
    cloud: "cloud",
    action: "start",
    deviceReference: "ABCD2345",
  };

  /** Sends a message through these nodes, one after the other, as wires would. */
  async function pass(test: TestFlow, msg: Message, ...nodes: string[]): Promise<Message> {
    let sent = msg;
    for (const node of nodes) {
      const end = await test.run(node, sent);
      assert.equal(end.error, undefined);
      assert.equal(end.sent.length, 1, "by the first output alone");
      const { _msgid, ...rest } = end.sent[0]?.msg ?? {};
      sent = rest;
    }
    return sent;
  }

  const manifestsOf = async (root: string) => [...(await readPackages(root)).values()];
  const order = { transactionReference: "ORDER-1" };

  /** Films and measures a parcel, and archives what `change` makes of its message: what the package says. */
  async function archived(
    properties: object,
    nodes: readonly string[],
    change = (msg: Message): Message => msg,
  ): Promise<[complete: boolean, missing: readonly string[]]> {
    const said: [boolean, readonly string[]][] = [];
    await withFolder(async (root) => {
      const test = await startFlow(root, properties);
      const measured = await pass(test, { ...order }, ...nodes);
      const { payload } = await pass(test, change(measured), "node");
      const [manifest] = await manifestsOf(root);
      const { complete, missing } = manifest ?? assert.fail();
      assert.equal(payloadOf({ payload }).complete, complete);
      said.push([complete, missing]);
    });
    return said[0] ?? assert.fail();
  }

  it("seals such a package at once, not complete, and says so in the status; another parcel's is complete", () =>
    withFolder(async (root) => {
      const test = await startFlow(root, {});
      const msg = await pass(test, { ...order }, "start", "measure", "node");
      const { complete, files } = payloadOf(msg);
      assert.deepEqual([complete, files.length], [false, 2]);
      const [manifest] = await manifestsOf(root);
      assert.deepEqual([manifest?.complete, manifest?.missing], [false, [unasked]]);
      assert.equal(manifest?.expected?.video, true);
      const shown = await test.untilStatus("node", ({ text }) => text === "archived without the video");
      assert.equal(shown.fill, "yellow");
      const other = await pass(test, { transactionReference: "ORDER-2" }, "measure", "node");
      assert.equal(payloadOf(other).complete, true);
      await test.untilStatus("node", ({ fill }) => fill === "green");
    }));

  it("says the same again when the same measurement is archived again", () =>
    withFolder(async (root) => {
      const test = await startFlow(root, {});
      const measured = await pass(test, { ...order }, "start", "measure");
      await pass(test, { ...measured }, "node");
      const again = payloadOf(await pass(test, { ...measured }, "node"));
      assert.deepEqual([again.alreadyArchived, again.complete], [true, false]);
      assert.equal((await manifestsOf(root)).length, 1);
    }));

  it("knows it by its measurement too, where the flow has removed msg.video", async () => {
    const without = ({ video: _video, ...msg }: Message): Message => msg;
    assert.deepEqual(await archived({}, ["start", "measure"], without), [false, [unasked]]);
  });

  for (const change of [{ transactionReference: 1 }, { at: new Date(0) }, { recording: "OWN" }, { by: 7 }]) {
    it(`knows it where the flow has changed msg.video: ${JSON.stringify(change)}`, async () => {
      const changed = (msg: Message): Message => ({ ...msg, video: { ...Object(msg["video"]), ...change } });
      assert.deepEqual(await archived({}, ["start", "measure"], changed), [false, [unsure]]);
    });
  }

  it("waits for none in a cloud where the flow has removed msg.video: that may be on purpose", () =>
    withFolder(async (root) => {
      const test = await startFlow(root, {});
      const { video: _video, ...measured } = await pass(test, { ...order }, "start", "measure");
      suite.sim.cloud.addMedia("T1", { contentType: "image/jpeg", generateBytes: 10_000 });
      const msg = await pass(test, { ...measured, transactionId: "T1" }, "cloudy");
      assert.equal(payloadOf(msg).complete, true);
    }));

  it("knows it by the start that the process has seen, where the message that is measured is another one", () =>
    withFolder(async (root) => {
      const test = await startFlow(root, {});
      await pass(test, { ...order }, "start");
      const msg = await pass(test, { ...order }, "measure", "node");
      assert.equal(payloadOf(msg).complete, false);
    }));

  it("does not take a video of a measurement from the device, which keeps only that of a stop", async () => {
    assert.deepEqual(await archived({ deviceVideo: true }, ["start", "measure"]), [false, [unasked]]);
  });

  it("is not sure of a video that was started through the cloud", async () => {
    assert.deepEqual(await archived({}, ["remote", "measure"]), [false, [unsure]]);
  });

  it("names the cloud's part where a cloud is selected that cannot be asked", async () => {
    const [complete, missing] = await archived({ cloud: "cloud" }, ["remote", "measureOld"]);
    assert.equal(complete, false);
    assert.match(missing.join(), /without references, its transaction cannot be found in the cloud/);
  });

  it("has it where the message brings it", async () => {
    const bring = (msg: Message): Message => ({
      ...msg,
      measurement: msg["payload"],
      payload: mp4s["index first"],
    });
    assert.deepEqual(await archived({}, ["start", "measure"], bring), [true, []]);
  });

  it("is complete without a video that was cancelled", async () => {
    assert.deepEqual(await archived({}, ["start", "cancel", "measure"]), [true, []]);
  });

  it("is complete without a video that was another parcel's", async () => {
    const others = (msg: Message): Message => ({
      ...msg,
      video: { ...Object(msg["video"]), recording: "other", transactionReference: "ORDER-0" },
    });
    assert.deepEqual(await archived({}, ["start", "measure"], others), [true, []]);
  });

  for (const media of ["pictures", "none"]) {
    it(`is complete without it by the rule ${media}`, async () => {
      assert.deepEqual(await archived({ media }, ["start", "measure"]), [true, []]);
    });
  }

  it("gets it later from a cloud, as a supplement that completes it", () =>
    withFolder(async (root) => {
      const { sim } = suite;
      const test = await startFlow(root, {});
      const measured = await pass(test, { ...order }, "start", "measure");
      await pass(test, { ...measured }, "node");
      sim.cloud.addMedia("T1", { contentType: "image/jpeg", generateBytes: 10_000 });
      suite.addVideo("T1");
      const msg = await pass(test, { ...measured, transactionId: "T1" }, "cloudy");
      assert.equal(payloadOf(msg).complete, true);
      const manifests = await manifestsOf(root);
      assert.deepEqual(manifests.map(({ complete }) => complete).toSorted(), [false, true]);
    }));
});
