import assert from "node:assert/strict";
import { mkdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { readPackages, until } from "../archive/support.ts";
import { withFolder } from "../media/support.ts";
import type { FlowNode } from "../support/flow.ts";
import { holdSyncs } from "../support/hold-syncs.ts";
import { archive, ArchiveSuite, nextEnd, payloadOf } from "./archive-suite.ts";

describe("dimensioner-archive behind a device on the local network", () => {
  const suite = new ArchiveSuite();

  /** Records ORDER-1; the stopped message is to be sent to the archive node, when the device has saved the video. */
  async function record(root: string) {
    const { sim } = suite;
    sim.newer.setMode("video-only");
    const dock = { id: "dock", type: "dimensioner-device", address: sim.newer.origin, timeout: 60 };
    const video = { z: "tab", type: "dimensioner-video-control", device: "dock" };
    const test = await suite.start(
      root,
      dock,
      { ...video, id: "start", action: "start" },
      { ...video, id: "stop", action: "stop" },
      archive(root, { deviceVideo: true, wait: 60 }),
    );
    await test.run("start", { transactionReference: "ORDER-1" });
    const stopped = await test.run("stop", { transactionReference: "ORDER-1" });
    await until(() => sim.newer.readSavedVideo() !== null, "the video is encoded");
    return { test, stopped };
  }

  it("makes one package of a local measurement with the device's images, and needs no cloud", async () => {
    await withFolder(async (root) => {
      const device: FlowNode = {
        id: "dock",
        type: "dimensioner-device",
        name: "Dock 4",
        address: suite.sim.newer.origin,
      };
      const measure: FlowNode = { id: "measure", z: "tab", type: "dimensioner-measure", device: "dock" };
      const node = archive(root, { cloud: "", layout: "{device}/{reference}-{transactionId}" });
      const test = await suite.start(root, device, { ...measure, wires: [["node"]] }, node);
      const ended = nextEnd(test, "node");
      await test.run("measure", { transactionReference: "ORDER-1" });
      assert.equal((await ended).error, undefined);
      const msg = test.sent.find(({ nodeId }) => nodeId === "node")?.msg;
      const payload = payloadOf(msg);
      assert.deepEqual([payload.complete, payload.transactionId], [true, null]);
      assert.equal(payload.location, `Dock 4/ORDER-1-${String(msg?.["imageIdentifier"])}`);
      assert.deepEqual(
        payload.files.map(({ path, source }) => [basename(path), source]),
        [
          ["annotated.jpg", "device"],
          ["color.jpg", "device"],
        ],
      );
      const raw = await readFile(join(payload.folder, "measurement.raw"), "utf8");
      assert.equal(raw, msg?.["rawResponse"]);
      const { _msgid, ...rest } = msg ?? {};
      const again = await test.run("node", { ...rest, payload: JSON.parse(raw) as unknown });
      assert.equal(payloadOf(again.sent[0]?.msg).alreadyArchived, true);
      assert.equal(suite.sim.requestsTo("cloud").length, 0);
    });
  });

  it("takes the images of the device while the share of the packages is not mounted, and archives when it is", async () => {
    await withFolder(async (folder) => {
      const root = join(folder, "share");
      const { sim } = suite;
      const device: FlowNode = { id: "dock", type: "dimensioner-device", address: sim.newer.origin };
      const measure: FlowNode = { id: "measure", z: "tab", type: "dimensioner-measure", device: "dock" };
      const node = archive(root, { cloud: "" });
      const test = await suite.start(root, device, { ...measure, wires: [["node"]] }, node);
      // Before a message comes.
      await test.untilStatus("node", ({ text }) => text === "folder missing");
      const ended = nextEnd(test, "node");
      await test.run("measure", { transactionReference: "ORDER-1" });
      await test.untilStatus("node", ({ text }) => text === "1 not delivered: folder missing");
      // The device forgets them.
      sim.newer.setPower(false);
      await mkdir(root);
      assert.equal((await ended).error, undefined);
      const [manifest] = [...(await readPackages(root)).values()];
      assert.deepEqual(manifest?.items.map(({ path }) => path).sort(), ["annotated.jpg", "color.jpg"]);
      assert.equal(manifest?.complete, true);
      await test.untilStatus("node", ({ text }) => text.startsWith("archived"));
    });
  });

  it("archives a measurement of an earlier device at once, without the cloud, in which nothing names its transaction", async () => {
    await withFolder(async (root) => {
      const dock = {
        id: "dock",
        type: "dimensioner-device",
        generation: "earlier",
        address: suite.sim.earlier.origin,
      };
      const measure: FlowNode = { id: "measure", z: "tab", type: "dimensioner-measure", device: "dock" };
      const test = await suite.start(
        root,
        dock,
        { ...measure, wires: [["node"]] },
        archive(root, { wait: 30 }),
      );
      const ended = nextEnd(test, "node");
      await test.run("measure", { transactionReference: "ORDER-1" });
      assert.equal((await ended).error, undefined);
      const [manifest] = [...(await readPackages(root)).values()];
      assert.deepEqual([manifest?.complete, manifest?.items, manifest?.raw !== null], [true, [], true]);
      assert.equal(manifest?.expected?.media, "none", "it does not claim to have looked at the cloud");
      assert.equal(suite.sim.requestsTo("cloud").length, 0);
    });
  });

  for (const [how, reference] of [
    ["", { transactionReference: "ORDER-1" }],
    [" whose message has no reference", {}],
    [" whose message has its reference elsewhere", { order: { id: "ORDER-1" } }],
  ] as const) {
    it(`archives the video saved on the device after a stop${how}, in Video Only mode`, async () => {
      await withFolder(async (root) => {
        suite.sim.newer.setMode("video-only");
        const dock = {
          id: "dock",
          type: "dimensioner-device",
          name: "Dock 4",
          address: suite.sim.newer.origin,
        };
        const video = (action: string): FlowNode => ({
          id: action,
          z: "tab",
          type: "dimensioner-video-control",
          device: "dock",
          action,
        });
        const test = await suite.start(
          root,
          dock,
          video("start"),
          {
            ...video("stop"),
            wires: [["node"]],
            ...("order" in reference ? { transactionReference: "order.id" } : {}),
          },
          archive(root, { deviceVideo: true, wait: 30 }),
        );
        await test.run("start", { transactionReference: "ORDER-1" });
        const ended = nextEnd(test, "node");
        await test.run("stop", { ...reference });
        assert.equal((await ended).error, undefined);
        const [manifest] = [...(await readPackages(root)).values()];
        assert.deepEqual([manifest?.complete, manifest?.recording?.recording], [true, "own"]);
        assert.deepEqual(
          manifest?.items.map(({ path, source }) => [path, source]),
          [["video.mp4", "device"]],
        );
      });
    });
  }

  it("archives a device's video once the device is in a video mode again", async () => {
    await withFolder(async (root) => {
      const { sim } = suite;
      const { test, stopped } = await record(root);
      sim.newer.setMode("measurement-only");
      const { _msgid, ...msg } = stopped.sent[0]?.msg ?? {};
      const archived = test.run("node", msg);
      await test.untilStatus("node", ({ text }) => text.startsWith("wrong operating mode"));
      sim.newer.setMode("video-only");
      assert.equal((await archived).error, undefined);
      const [manifest] = [...(await readPackages(root)).values()];
      assert.deepEqual([manifest?.complete, manifest?.items.map((item) => item.path)], [true, ["video.mp4"]]);
    });
  });

  it("archives a device's video while the next start already waits for the end of its transfer", async () => {
    await withFolder(async (root) => {
      const { sim } = suite;
      const { test, stopped } = await record(root);
      const path = "/api/v1/video/download";
      const dripping = sim.faults.add({ path, times: 0, fault: { kind: "drip", bytes: 1, everyMs: 1_000 } });
      const { _msgid, ...msg } = stopped.sent[0]?.msg ?? {};
      const archived = test.run("node", msg);
      await until(() => sim.requestsTo("newer", path).length === 1, "the video is transferred");
      const next = test.run("start", { transactionReference: "ORDER-2" });
      await test.untilStatus("start", ({ text }) => text === "in queue: 1");
      const disk = await holdSyncs();
      try {
        sim.faults.remove(dripping);
        assert.equal((await next).error, undefined);
        await until(() => disk.count() > 0, "the video is to be synced");
      } finally {
        disk.release();
      }
      assert.equal((await archived).error, undefined);
      const [manifest] = [...(await readPackages(root)).values()];
      assert.deepEqual(
        [manifest?.complete, manifest?.recording?.recording, manifest?.items.map((item) => item.path)],
        [true, "own", ["video.mp4"]],
      );
    });
  });

  it("refuses a video that a message brings of another parcel's recording", async () => {
    await withFolder(async (root) => {
      const { sim } = suite;
      sim.newer.setMode("video-with-measurement");
      const dock = { id: "dock", type: "dimensioner-device", address: sim.newer.origin, timeout: 60 };
      const onDock = { z: "tab", device: "dock" };
      const test = await suite.start(
        root,
        dock,
        { ...onDock, id: "start", type: "dimensioner-video-control", action: "start" },
        { ...onDock, id: "measure", type: "dimensioner-measure", failures: "output", outputs: 2 },
        { ...onDock, id: "fetch", type: "dimensioner-fetch-video", wait: 30 },
        archive(root, { cloud: "", images: "" }),
      );
      for (const transactionReference of ["A", "B"]) {
        await test.run("start", { transactionReference });
      }
      sim.newer.setParcel(null);
      const failed = await test.run("measure", { transactionReference: "A" });
      const { _msgid, ...measured } = failed.sent[0]?.msg ?? {};
      const fetched = await test.run("fetch", { ...measured, measurement: measured["payload"] });
      const { _msgid: _, ...msg } = fetched.sent[0]?.msg ?? {};
      const refused = await test.run("node", { ...msg });
      assert.equal(refused.error?.code, "ERR_INPUT");
      assert.match(refused.error.message, /another parcel.*overwritten/);
      assert.equal((await readPackages(root)).size, 0);

      const without = await test.run("node", { ...msg, payload: measured["payload"] });
      assert.deepEqual(payloadOf(without.sent[0]?.msg).files, []);
      const own = await test.run("node", { ...msg, transactionReference: "C", video: undefined });
      assert.equal(payloadOf(own.sent[0]?.msg).files.length, 1);
    });
  });
});
