import assert from "node:assert/strict";
import { readPackages, until } from "../archive/support.ts";
import { withFolder } from "../media/support.ts";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import type { Message, TestFlow } from "../support/flow.ts";
import { archive, ArchiveSuite, payloadOf } from "./archive-suite.ts";

describe("dimensioner-archive: one device films a parcel in Video Only, and another one measures it", () => {
  const suite = new ArchiveSuite();
  let other: Simulator;
  beforeEach(async () => {
    other = await startSimulator();
  });
  afterEach(() => other.close());

  /** Films and measures a parcel; the cloud has a picture of the measurement. */
  async function filmAndMeasure(
    root: string,
    properties: object,
  ): Promise<{ readonly test: TestFlow; readonly msg: Message }> {
    const { sim } = suite;
    sim.newer.setMode("video-only");
    const video = { z: "tab", type: "dimensioner-video-control", device: "camera" };
    const test = await suite.start(
      root,
      { id: "camera", type: "dimensioner-device", name: "Camera", address: sim.newer.origin },
      { id: "dock", type: "dimensioner-device", name: "Dock", address: other.newer.origin },
      { ...video, id: "start", action: "start" },
      { ...video, id: "stop", action: "stop" },
      { id: "measure", z: "tab", type: "dimensioner-measure", device: "dock" },
      archive(root, { wait: 5, ...properties }),
      archive(root, { wait: 5, media: "list", expect: "image/jpeg,image/png" }, "more"),
    );
    const pass = async (node: string, msg: Message): Promise<Message> => {
      const { _msgid, ...sent } = (await test.run(node, msg)).sent[0]?.msg ?? {};
      return sent;
    };
    const started = await pass("start", { transactionReference: "ORDER-1" });
    const stopped = await pass("stop", started);
    await until(() => sim.newer.readSavedVideo() !== null, "the video is encoded");
    const measured = await pass("measure", stopped);
    sim.cloud.addMedia("1", { contentType: "image/jpeg", generateBytes: 10_000 });
    return { test, msg: { ...measured, transactionId: "1" } };
  }

  it("waits for no video in the transaction of the measurement, which did not film", async () => {
    await withFolder(async (root) => {
      const { test, msg } = await filmAndMeasure(root, { images: "" });
      assert.equal((await test.run("node", { ...msg })).error, undefined);
      const [manifest] = [...(await readPackages(root)).values()];
      assert.deepEqual(
        [manifest?.complete, manifest?.recording?.recording, manifest?.items.map(({ source }) => source)],
        [true, "own", ["cloud"]],
      );
      assert.deepEqual(manifest?.recordedBy, { id: "camera", name: "Camera" });
      const again = await test.run("node", { transactionId: "1" });
      assert.equal(again.error, undefined);
      const { alreadyArchived, complete } = payloadOf(again.sent[0]?.msg);
      assert.deepEqual([alreadyArchived, complete], [true, true]);
    });
  });

  it("waits for no video either in what is added to its package later", async () => {
    await withFolder(async (root) => {
      const { test, msg } = await filmAndMeasure(root, { images: "" });
      await test.run("node", { ...msg });
      suite.sim.cloud.addMedia("1", { contentType: "image/png", generateBytes: 20_000 });
      const added = await test.run("more", { transactionId: "1" });
      assert.equal(added.error, undefined);
      const supplements = [...(await readPackages(root)).values()].filter(
        (one) => (one.supplements ?? null) !== null,
      );
      assert.deepEqual(
        supplements.map(({ complete, recordedBy }) => ({ complete, recordedBy })),
        [{ complete: true, recordedBy: { id: "camera", name: "Camera" } }],
      );
      assert.equal((await test.run("node", { transactionId: "1" })).error, undefined);
    });
  });

  it("collects the images of the one and the video that the other one keeps", async () => {
    await withFolder(async (root) => {
      const { test, msg } = await filmAndMeasure(root, { deviceVideo: true });
      assert.equal((await test.run("node", { ...msg })).error, undefined);
      const [manifest] = [...(await readPackages(root)).values()];
      assert.deepEqual(manifest?.items.map(({ path, source }) => `${source} ${path}`).toSorted(), [
        "cloud ColorImageJpeg.jpg",
        "device annotated.jpg",
        "device color.jpg",
        "device video.mp4",
      ]);
      assert.deepEqual(
        [manifest?.complete, manifest?.expected?.deviceVideo, manifest?.measuredBy?.name],
        [true, true, "Dock"],
      );
      assert.deepEqual(manifest?.recordedBy, { id: "camera", name: "Camera" });
      assert.equal((await test.run("node", { ...msg })).sent.length, 1);
      assert.equal((await readPackages(root)).size, 1);
    });
  });

  it("lets no other parcel's video into the package when the camera has begun its next one", async () => {
    await withFolder(async (root) => {
      const { test, msg } = await filmAndMeasure(root, { deviceVideo: true, wait: 1 });
      await test.run("start", { transactionReference: "ORDER-2" });
      assert.equal((await test.run("node", { ...msg })).error?.code, "ERR_MEDIA_INCOMPLETE");
      assert.equal((await readPackages(root)).size, 0);
    });
  });

  it("accepts nothing if the camera is not deployed", async () => {
    await withFolder(async (root) => {
      const { test, msg } = await filmAndMeasure(root, { deviceVideo: true });
      const video = { ...Object(msg["video"]), device: { id: "gone", name: "Gone" } };
      assert.equal((await test.run("node", { ...msg, video })).error?.code, "ERR_CONFIG");
    });
  });
});
