import assert from "node:assert/strict";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { archiveTexts } from "../../src/runtime/archive/archive-status.ts";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { pictureOf, readPackages, sha256Of, until } from "../archive/support.ts";
import { withFolder } from "../media/support.ts";
import { TestFlow, type End, type FlowNode, type Message } from "../support/flow.ts";
import { storeId, storeNode } from "../support/store-node.ts";

const credentials = { cloud: { token: "simulator" }, "cloud-2": { token: "simulator" } };

/** How the next message to end in a node ends. */
async function nextEnd(flow: TestFlow, nodeId: string): Promise<End> {
  const count = (): number => flow.ends.filter((end) => end.nodeId === nodeId).length;
  const before = count();
  await until(() => count() > before, `a message ends in ${nodeId}`);
  return flow.ends.filter((end) => end.nodeId === nodeId)[before] ?? assert.fail();
}

interface Payload {
  location: string;
  folder: string;
  manifest: string;
  transactionId: string | null;
  transactionReference: string | null;
  files: {
    path: string;
    source: string;
    contentId: string;
    contentType: string;
    bytes: number;
    sha256: string;
  }[];
  bytes: number;
  complete: boolean;
  alreadyArchived: boolean;
}

describe("dimensioner-archive", () => {
  let sim: Simulator;
  let flow: TestFlow | undefined;

  beforeEach(async () => {
    sim = await startSimulator();
  });

  afterEach(async () => {
    const { shown = [], ends = [] } = flow ?? {};
    await flow?.stop();
    flow = undefined;
    await sim.close();
    for (const { text } of shown) {
      assert.ok(text.length < 32, `status too long: ${text}`);
    }
    const ids = ends.map(({ nodeId, msgId }) => `${nodeId} ${msgId}`);
    assert.deepEqual([...new Set(ids)], ids, "a message ended twice");
  });

  const archive = (folder: string, more: Record<string, unknown> = {}, id = "node"): FlowNode => ({
    id,
    z: "tab",
    type: "dimensioner-archive",
    cloud: "cloud",
    store: storeId(folder),
    settle: 0,
    ...more,
  });
  const clouds = (): FlowNode[] => [
    { id: "cloud", type: "dimensioner-cloud", name: "A", baseUrl: sim.cloud.origin, timeout: 60 },
    { id: "cloud-2", type: "dimensioner-cloud", name: "B", baseUrl: sim.cloud.origin, timeout: 60 },
  ];
  /** The config nodes, with a store in each of these folders. */
  const configs = (...folders: string[]): FlowNode[] => [
    ...clouds(),
    ...folders.map((folder) => storeNode(folder)),
  ];
  const start = async (folder: string, ...nodes: FlowNode[]): Promise<TestFlow> => {
    flow = await TestFlow.start([...configs(folder), ...nodes], credentials);
    return flow;
  };
  const addVideo = (id: string) =>
    sim.cloud.addMedia(id, { contentType: "video/mp4", generateBytes: 50_000 });
  const payloadOf = (msg: Message | undefined): Payload => msg?.["payload"] as Payload;

  it("turns a remote measure into a package with the measurement and its exact text", async () => {
    await withFolder(async (root) => {
      const { run } = await measureAndArchive(root);
      const { sent, error } = await run;
      assert.equal(error, undefined);
      assert.equal(sent.length, 1);
      const [only] = sent;
      const payload = payloadOf(only?.msg);
      assert.equal(payload.complete, true);
      assert.equal(payload.alreadyArchived, false);
      assert.equal(payload.transactionReference, "ORDER-1");
      assert.equal(only?.msg["filename"], payload.manifest);
      assert.equal(
        payload.bytes,
        payload.files.reduce((sum, { bytes }) => sum + bytes, 0),
      );
      for (const { path, sha256 } of payload.files) {
        assert.equal(sha256Of(await readFile(path)), sha256);
      }
      assert.deepEqual(only?.msg["order"], { lines: [1, 2] });
      assert.equal("resumed" in (only?.msg ?? {}), false);
      const [manifest] = [...(await readPackages(root)).values()];
      assert.equal(manifest?.legalForTrade, false);
      // The device code stands in the dialog of the remote trigger, and nowhere on the message that came in.
      assert.equal(manifest.device, "ABCD2345");
      assert.ok(payload.location.startsWith("ABCD2345/"), payload.location);
      assert.equal(manifest.references.transactionReference, "ORDER-1");
      assert.match(manifest.times.deviceUtc ?? "", /Z$/);
      const raw = await readFile(join(payload.folder, "measurement.raw"), "utf8");
      assert.equal(raw, only?.msg["rawResponse"]);
      const { measuredObjects } = JSON.parse(
        await readFile(join(payload.folder, "measurement.json"), "utf8"),
      ) as { measuredObjects: unknown[] };
      assert.equal(measuredObjects.length, 1);
      assert.match(flow?.lastStatus("node")?.text ?? "", /^archived \d/);
      assert.equal(flow?.lastStatus("node")?.fill, "green");
    });
  });

  async function measureAndArchive(root: string) {
    const test = await start(
      root,
      {
        id: "measure",
        z: "tab",
        type: "dimensioner-remote-trigger",
        cloud: "cloud",
        action: "measure",
        deviceReference: "ABCD2345",
        wires: [["node"]],
      },
      archive(root, { wait: 5, media: "list", expect: "image/jpeg", layout: "{device}/{transactionId}" }),
    );
    const ended = nextEnd(test, "node");
    const before = test.sent.length;
    await test.run("measure", { transactionReference: "ORDER-1", order: { lines: [1, 2] } });
    const run = ended.then((end) => ({
      ...end,
      sent: test.sent.slice(before).filter(({ nodeId }) => nodeId === "node"),
    }));
    return { run };
  }

  it("says in its catalog what it says without one", async () => {
    const file = join(import.meta.dirname, "../../nodes/archive/locales/en-US/archive.json");
    const { status } = JSON.parse(await readFile(file, "utf8")) as { status: unknown };
    assert.deepEqual(status, archiveTexts);
  });

  it("says once more what it has archived before", async () => {
    await withFolder(async (root) => {
      addVideo("1");
      const test = await start(root, archive(root), archive(root, {}, "other"));
      const first = await test.run("node", { transactionId: "1" });
      const again = await test.run("node", { transactionId: 1 });
      const other = await test.run("other", { transactionId: "1" });
      const [one, two, three] = [first, again, other].map(({ sent }) => payloadOf(sent[0]?.msg));
      assert.deepEqual(
        [one?.alreadyArchived, two?.alreadyArchived, three?.alreadyArchived],
        [false, true, true],
      );
      assert.deepEqual(two?.files, one?.files);
      assert.deepEqual(three?.files, one?.files);
      assert.equal((await readPackages(root)).size, 1);
      assert.equal(test.lastStatus("other")?.text, "already archived");
    });
  });

  it("makes sub-folders of hostile references, and leaves none of them out of its root", async () => {
    await withFolder(async (folder) => {
      const root = join(folder, "root");
      await mkdir(root);
      const test = await start(root, archive(root, { layout: "{device}/{reference}/x{transactionId}" }));
      const references = [
        "../../../etc",
        "a/b\\c",
        "..",
        ".",
        "C:\\x",
        "\u0000",
        "aux",
        "😀".repeat(200),
        " ",
        "ORDER 1.",
      ];
      for (const [index, transactionReference] of references.entries()) {
        addVideo(`t${index}`);
        const { error, sent } = await test.run("node", {
          transactionId: `t${index}`,
          transactionReference,
          deviceReference: "../..",
        });
        assert.equal(error, undefined, transactionReference);
        const payload = payloadOf(sent[0]?.msg);
        assert.equal(payload.transactionReference, transactionReference);
        assert.ok(payload.folder.startsWith(`${root}/`), payload.folder);
        assert.equal(payload.folder.slice(root.length + 1).split("/").length, 3, payload.folder);
      }
      assert.equal((await readPackages(root)).size, references.length);
    });
  });

  for (const [what, node, msg, code] of [
    ["no transaction id", {}, {}, "ERR_INPUT"],
    ["an id that climbs up", {}, { transactionId: "../measure" }, "ERR_INPUT"],
    [
      "a kept property that is no data",
      { keep: "circle" },
      { transactionId: "1", circle: "circle" },
      "ERR_INPUT",
    ],
    ["no store", { store: "" }, { transactionId: "1" }, "ERR_CONFIG"],
    ["a store without a folder", { store: "no-folder" }, { transactionId: "1" }, "ERR_CONFIG"],
    ["a store whose folder is not there", { store: "gone" }, { transactionId: "1" }, "ERR_FILE"],
    ["a layout that climbs up", { layout: "../{reference}" }, { transactionId: "1" }, "ERR_CONFIG"],
    ["a layout with a slip", { layout: "{refrence}" }, { transactionId: "1" }, "ERR_CONFIG"],
    ["a wait that is no number", { wait: "long" }, { transactionId: "1" }, "ERR_CONFIG"],
    ["hours that are no number", { giveUp: "-1" }, { transactionId: "1" }, "ERR_CONFIG"],
    ["no download at all", { concurrency: 0 }, { transactionId: "1" }, "ERR_CONFIG"],
    ["a cloud that is gone", { cloud: "gone" }, { transactionId: "1" }, "ERR_CONFIG"],
    ["an image that no device has", { images: "annotated,infrared" }, { transactionId: "1" }, "ERR_CONFIG"],
    ["a list of media that names none", { media: "list" }, { transactionId: "1" }, "ERR_INPUT"],
    ["a rule that is none", { media: "most" }, { transactionId: "1" }, "ERR_CONFIG"],
    ["nothing to archive", { cloud: "" }, { transactionId: "1", payload: "text" }, "ERR_INPUT"],
    ["an empty Buffer", { cloud: "" }, { transactionId: "1", payload: Buffer.alloc(0) }, "ERR_INPUT"],
    [
      "a local measurement of nobody knows which device",
      {},
      { payload: { source: "newer-device", measuredObjects: [] } },
      "ERR_INPUT",
    ],
    [
      "a local measurement of a device that is not deployed",
      {},
      {
        measuredBy: { id: "gone", surface: "newer-device" },
        payload: { source: "newer-device", measuredObjects: [] },
      },
      "ERR_CONFIG",
    ],
  ] as const) {
    it(`accepts nothing for ${what}, and asks the cloud nothing`, async () => {
      await withFolder(async (root) => {
        const stores = [storeNode(" ", "no-folder"), storeNode("/nowhere/at all", "gone")];
        const test = await start(root, ...stores, archive(root, node));
        const message: Message = { ...msg };
        if ("circle" in msg) {
          message["circle"] = message;
        }
        const before = { ...message };
        const { error, sent } = await test.run("node", message);
        assert.equal(error?.code, code, error?.message);
        assert.equal(error?.cause.outcome, null);
        assert.equal(sent.length, 0);
        assert.deepEqual({ ...message, _msgid: undefined }, { ...before, _msgid: undefined });
        assert.equal(sim.requests.length, 0);
        assert.equal(test.lastStatus("node")?.fill, "red");
      });
    });
  }

  it("says at the deploy that its folder is missing or its settings are wrong", async () => {
    await withFolder(async (root) => {
      const test = await start(
        root,
        storeNode(join(root, "gone")),
        archive("", { store: "" }, "blank"),
        archive(join(root, "gone"), {}, "gone"),
        archive(root, { layout: "{x}" }, "layout"),
        archive(root, { cloud: "gone" }, "cloudless"),
      );
      await test.untilStatus("blank", ({ text }) => text === "config node missing");
      await test.untilStatus("gone", ({ text }) => text === "folder missing");
      await test.untilStatus("layout", ({ text }) => text === "check the settings");
      await test.untilStatus("cloudless", ({ text }) => text === "config node missing");
    });
  });

  it("shows that its folder is missing until the folder is there", async () => {
    await withFolder(async (root) => {
      const folder = join(root, "gone");
      const test = await start(root, storeNode(folder), archive(folder));
      await test.untilStatus("node", ({ text }) => text === "folder missing");
      await mkdir(folder);
      await test.untilCleared("node");
    });
  });

  it("names what is missing, with what there is on msg.payload", async () => {
    await withFolder(async (root) => {
      addVideo("1");
      const test = await start(
        root,
        archive(root, { media: "list", expect: "video/mp4, image/jpeg", wait: 0.1 }),
      );
      const message: Message = { transactionId: "1" };
      const { error, sent } = await test.run("node", message);
      assert.equal(error?.code, "ERR_MEDIA_INCOMPLETE");
      assert.match(error.message, /missing: image\/jpeg/);
      assert.equal(sent.length, 0);
      assert.equal((message["payload"] as unknown[]).length, 1);
      assert.equal(test.lastStatus("node")?.text, "media missing");
    });
  });

  it("waits with a yellow ring, and drops what waits on msg.reset", async () => {
    await withFolder(async (root) => {
      const test = await start(root, archive(root, { wait: 600 }));
      const waiting = test.start("node", { transactionId: "1" });
      await test.untilStatus(
        "node",
        ({ fill, text }) => fill === "yellow" && text === "1 open, awaiting media",
      );
      await test.run("node", { reset: true });
      const { error } = await waiting;
      assert.equal(error?.code, "ERR_CANCELLED");
      assert.equal(error.cause.retryable, true);
      await test.deploy([...configs(root), archive(root)], credentials);
      addVideo("1");
      const { sent } = await test.run("node", { transactionId: "1" });
      assert.equal(payloadOf(sent[0]?.msg).alreadyArchived, false, "the dropped job was not done");
    });
  });

  it("drops on msg.reset also what is just asking whether to wait on", async () => {
    await withFolder(async (root) => {
      const test = await start(root, archive(root, { media: "list", expect: "video/mp4", wait: 600 }));
      sim.faults.add({ surface: "cloud", times: 0, fault: { kind: "delay", ms: 200 } });
      sim.cloud.addMedia("1", { contentType: "image/jpeg", bytes: pictureOf("a") });
      const asked = sim.nextRequest(({ path }) => path === "/api/transactionmedia/1");
      const waiting = test.start("node", { transactionId: "1" });
      await asked;
      await test.run("node", { reset: true });
      assert.equal((await waiting).error?.code, "ERR_CANCELLED");
    });
  });

  it("names a trouble that can pass, and goes on by itself", async () => {
    await withFolder(async (folder) => {
      const root = join(folder, "share");
      await mkdir(root);
      addVideo("1");
      const test = await start(
        root,
        archive(root, { wait: 600, media: "list", expect: "video/mp4,image/jpeg" }),
      );
      const ended = test.start("node", { transactionId: "1" });
      await test.untilStatus("node", ({ fill }) => fill === "yellow");
      sim.faults.add({ surface: "cloud", times: 1, fault: { kind: "status", status: 401 } });
      await test.untilStatus("node", ({ fill, text }) => fill === "red" && text === "token rejected (1)");
      await rename(root, join(folder, "away"));
      sim.cloud.addMedia("1", { contentType: "image/jpeg", bytes: pictureOf("x") });
      await test.untilStatus("node", ({ text }) => text === "folder missing (1)");
      await rename(join(folder, "away"), root);
      assert.equal((await ended).error, undefined);
      assert.equal((await readPackages(root)).size, 1);
    });
  });

  it("keeps an accepted job over a deploy: its message ends, and the job's own comes afterwards", async () => {
    await withFolder(async (root) => {
      const node = archive(root, { wait: 600, keep: "order.id, big" });
      const test = await start(root, node);
      const running = test.start("node", {
        transactionId: "1",
        transactionReference: "ORDER-1",
        topic: "parcels",
        order: { id: 7, secret: 1 },
        payload: "gone",
      });
      await test.untilStatus("node", ({ fill }) => fill === "yellow");
      const deployed = test.deploy([...configs(root), node], credentials);
      const { error } = await running;
      assert.equal(error?.code, "ERR_CANCELLED");
      assert.equal(error.cause.retryable, false, "nobody shall send it again");
      await deployed;
      assert.equal(test.sent.length, 0);
      addVideo("1");
      const { error: none } = await nextEnd(test, "node");
      assert.equal(none, undefined);
      const [only] = test.sent;
      assert.equal(test.sent.length, 1);
      const { payload, _msgid, filename, ...rest } = only?.msg ?? {};
      assert.ok(typeof _msgid === "string" && typeof filename === "string");
      assert.equal((payload as Payload).alreadyArchived, false);
      assert.deepEqual(rest, {
        resumed: true,
        transactionId: "1",
        transactionReference: "ORDER-1",
        topic: "parcels",
        order: { id: 7 },
      });
      await test.deploy([...configs(root), node], credentials);
      await test.run("node", { transactionId: "1" });
      assert.equal(test.sent.length, 2, "it was not told again");
    });
  });

  it("ends a resumed job that fails at the Catch node, with what was kept", async () => {
    await withFolder(async (root) => {
      const test = await start(root, archive(root, { wait: 600 }));
      const running = test.start("node", { transactionId: "1", topic: "parcels" });
      await test.untilStatus("node", ({ fill }) => fill === "yellow");
      const deployed = test.deploy([...configs(root), archive(root, { wait: 600 })], credentials);
      await running;
      const before = test.shown.length;
      await deployed;
      await until(() => test.shown.slice(before).some(({ fill }) => fill === "yellow"), "it waits again");
      await test.run("node", { reset: true });
      const cancelled = () => test.ends.filter(({ error }) => error?.code === "ERR_CANCELLED");
      await until(() => cancelled().length === 2, "the resumed job's message ends");
      assert.deepEqual(
        cancelled().map(({ error }) => error?.cause.retryable),
        [false, true],
      );
    });
  });

  it("goes on with the jobs of a node that is gone", async () => {
    await withFolder(async (root) => {
      const test = await start(root, archive(root, { wait: 600 }, "old"));
      const running = test.start("old", { transactionId: "1" });
      await test.untilStatus("old", ({ fill }) => fill === "yellow");
      const other = archive(root, { cloud: "" }, "messages");
      const deployed = test.deploy(
        [...configs(root), other, archive(root, { wait: 600 }, "new")],
        credentials,
      );
      await running;
      await deployed;
      addVideo("1");
      assert.equal((await nextEnd(test, "new")).error, undefined);
      assert.equal(test.sent[0]?.nodeId, "new");
    });
  });

  it("lets a message choose the cloud, also after a deploy, and asks no other cloud for a job", async () => {
    await withFolder(async (root) => {
      const test = await start(root, archive(root, { cloud: "", cloudFrom: "site", wait: 600 }));
      assert.equal((await test.run("node", { transactionId: "1" })).error?.code, "ERR_INPUT");
      assert.equal((await test.run("node", { transactionId: "1", site: "C" })).error?.code, "ERR_INPUT");
      const running = test.start("node", { transactionId: "1", site: "B" });
      await test.untilStatus("node", ({ fill }) => fill === "yellow");
      const elsewhere = clouds().map((node) => ({ ...node, baseUrl: "http://127.0.0.1:9" }));
      const node = archive(root, { cloud: "cloud", cloudFrom: "site", wait: 600 });
      let deployed = test.deploy([...elsewhere, storeNode(root), node], credentials);
      await running;
      await deployed;
      await test.untilStatus("node", ({ text }) => text === "check the settings (1)");
      addVideo("1");
      const resumed = nextEnd(test, "node");
      deployed = test.deploy([...configs(root), node], credentials);
      assert.equal((await resumed).error?.code, "ERR_CANCELLED");
      const done = nextEnd(test, "node");
      await deployed;
      assert.equal((await done).error, undefined);
    });
  });

  it("makes one package of a local measurement with the device's images, and needs no cloud", async () => {
    await withFolder(async (root) => {
      const device: FlowNode = {
        id: "dock",
        type: "dimensioner-device",
        name: "Dock 4",
        address: sim.newer.origin,
      };
      const measure: FlowNode = { id: "measure", z: "tab", type: "dimensioner-measure", device: "dock" };
      const node = archive(root, { cloud: "", layout: "{device}/{reference}-{transactionId}" });
      const test = await start(root, device, { ...measure, wires: [["node"]] }, node);
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
      assert.equal(sim.requestsTo("cloud").length, 0);
    });
  });

  it("archives a measurement of an earlier device at once, without the cloud, in which nothing names its transaction", async () => {
    await withFolder(async (root) => {
      const dock = {
        id: "dock",
        type: "dimensioner-device",
        generation: "earlier",
        address: sim.earlier.origin,
      };
      const measure: FlowNode = { id: "measure", z: "tab", type: "dimensioner-measure", device: "dock" };
      const test = await start(root, dock, { ...measure, wires: [["node"]] }, archive(root, { wait: 30 }));
      const ended = nextEnd(test, "node");
      await test.run("measure", { transactionReference: "ORDER-1" });
      assert.equal((await ended).error, undefined);
      const [manifest] = [...(await readPackages(root)).values()];
      assert.deepEqual([manifest?.complete, manifest?.items, manifest?.raw !== null], [true, [], true]);
      assert.equal(manifest?.expected?.media, "none", "it does not claim to have looked at the cloud");
      assert.equal(sim.requestsTo("cloud").length, 0);
    });
  });

  it("archives the video saved on the device after a stop, in Video Only mode", async () => {
    await withFolder(async (root) => {
      sim.newer.setMode("video-only");
      const dock = { id: "dock", type: "dimensioner-device", name: "Dock 4", address: sim.newer.origin };
      const video = (action: string): FlowNode => ({
        id: action,
        z: "tab",
        type: "dimensioner-video-control",
        device: "dock",
        action,
      });
      const test = await start(
        root,
        dock,
        video("start"),
        { ...video("stop"), wires: [["node"]] },
        archive(root, { deviceVideo: true, wait: 30 }),
      );
      await test.run("start", { transactionReference: "ORDER-1" });
      const ended = nextEnd(test, "node");
      await test.run("stop", { transactionReference: "ORDER-1" });
      assert.equal((await ended).error, undefined);
      const [manifest] = [...(await readPackages(root)).values()];
      assert.deepEqual([manifest?.complete, manifest?.recording?.recording], [true, "own"]);
      assert.deepEqual(
        manifest?.items.map(({ path, source }) => [path, source]),
        [["video.mp4", "device"]],
      );
    });
  });

  it("tells once, on its second output, of a parcel that is not archived yet, and goes on", async () => {
    await withFolder(async (root) => {
      const test = await start(root, archive(root, { wait: 600, warnAfter: 0.2, keep: "order" }));
      const running = test.start("node", { transactionId: "1", transactionReference: "ORDER-1", order: 7 });
      const told = () => test.sent.filter(({ port }) => port === 1);
      await until(() => told().length > 0, "it is told of");
      const { payload, order } = told()[0]?.msg ?? {};
      const { heldUpFor, ...rest } = payload as { heldUpFor: number };
      assert.deepEqual([typeof heldUpFor, order], ["number", 7]);
      assert.deepEqual(rest, {
        transactionId: "1",
        transactionReference: "ORDER-1",
        device: null,
        reason: {
          code: "ERR_MEDIA_INCOMPLETE",
          message: `Not all expected media arrived within ${heldUpFor} s; missing: any media. Wait longer, or try again later.`,
        },
      });
      addVideo("1");
      assert.equal((await running).error, undefined);
      assert.deepEqual(
        test.sent.map(({ port }) => port),
        [1, 0],
      );
    });
  });

  describe("with the media on the message", () => {
    it("gathers Buffers and saved files of a sequence into one package and one message", async () => {
      await withFolder(async (folder) => {
        const root = join(folder, "root");
        await mkdir(root);
        const file = pictureOf("from a file");
        const path = join(folder, "color.jpg");
        await writeFile(path, file);
        const test = await start(root, archive(root, { cloud: "", transactionId: "id" }), {
          id: "image",
          z: "tab",
          type: "dimensioner-fetch-image",
          output: "file",
          folder,
        });
        const rawResponse =
          '{"errorCode":0,"dimensionsLegalForTrade":true,"dateTimeLocal":"2026-11-02T10:00:00+01:00"}';
        const ofParcel = { id: "local-1", rawResponse, transactionReference: "ORDER-1" };
        const parts = (index: number) => ({ id: "p", index, count: 3 });
        const ends = await Promise.all([
          test.start("node", {
            ...ofParcel,
            payload: pictureOf("a"),
            filename: "annotated.jpg",
            parts: parts(1),
          }),
          test.start("node", {
            ...ofParcel,
            payload: { path, bytes: file.length, sha256: sha256Of(file), contentType: "image/jpeg" },
            parts: parts(0),
          }),
          test.start("node", {
            ...ofParcel,
            payload: [pictureOf("c"), pictureOf("d")],
            parts: parts(2),
          }),
        ]);
        assert.deepEqual(
          ends.map(({ error }) => error),
          [undefined, undefined, undefined],
        );
        assert.equal(test.sent.length, 1);
        const payload = payloadOf(test.sent[0]?.msg);
        assert.equal(payload.files.length, 4);
        assert.equal("parts" in (test.sent[0]?.msg ?? {}), false);
        const [manifest] = [...(await readPackages(root)).values()];
        assert.deepEqual(
          [manifest?.source, manifest?.cloud, manifest?.legalForTrade, manifest?.times.deviceLocal],
          [undefined, null, true, "2026-11-02T10:00:00+01:00"],
        );
        assert.equal(sim.requests.length, 0);
      });
    });

    it("needs no cloud config node", async () => {
      await withFolder(async (root) => {
        const test = await start(root, archive(root, { cloud: "" }));
        const { error, sent } = await test.run("node", { transactionId: "1", payload: pictureOf("x") });
        assert.equal(error, undefined);
        assert.equal(payloadOf(sent[0]?.msg).files[0]?.contentType, "image/jpeg");
        assert.equal(
          test.shown.some(({ fill }) => fill === "red"),
          false,
        );
      });
    });
  });
});
