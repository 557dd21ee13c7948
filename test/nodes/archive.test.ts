import assert from "node:assert/strict";
import { mkdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { archiveTexts } from "../../src/runtime/archive/status.ts";
import { pictureOf, readPackages, sha256Of, until } from "../archive/support.ts";
import { withFolder } from "../media/support.ts";
import type { FlowNode, Message } from "../support/flow.ts";
import { storeNode } from "../support/store-node.ts";
import { archive, ArchiveSuite, credentials, nextEnd, payloadOf } from "./archive-suite.ts";

const picture = pictureOf("a");
const measured = { ok: true, source: "webhook", transactionId: "1" };

describe("dimensioner-archive", () => {
  const suite = new ArchiveSuite();

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
      const file = payload.manifest.replace(/manifest\.json$/, "measurement.json");
      const stored = JSON.parse(await readFile(file, "utf8")) as Record<string, unknown>;
      assert.deepEqual(
        payload.measurement,
        Object.fromEntries(Object.keys(payload.measurement ?? {}).map((name) => [name, stored[name]])),
      );
      assert.ok(Number(payload.measurement?.["length"]) > 0);
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
      // The dialog of the remote trigger has its code, and the message that came in nothing of it.
      assert.equal(manifest.device, "Simulated device");
      assert.ok(payload.location.startsWith("Simulated device/"), payload.location);
      assert.equal(manifest.references.transactionReference, "ORDER-1");
      assert.match(manifest.times.deviceUtc ?? "", /Z$/);
      const raw = await readFile(join(payload.folder, "measurement.raw"), "utf8");
      assert.equal(raw, only?.msg["rawResponse"]);
      const { measuredObjects } = JSON.parse(
        await readFile(join(payload.folder, "measurement.json"), "utf8"),
      ) as { measuredObjects: unknown[] };
      assert.equal(measuredObjects.length, 1);
      assert.match(suite.flow?.lastStatus("node")?.text ?? "", /^archived \d/);
      assert.equal(suite.flow?.lastStatus("node")?.fill, "green");
    });
  });

  async function measureAndArchive(root: string) {
    const test = await suite.start(
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
      suite.addVideo("1");
      const test = await suite.start(root, archive(root), archive(root, {}, "other"));
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
      const test = await suite.start(
        root,
        archive(root, { layout: "{device}/{reference}/x{transactionId}" }),
      );
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
        suite.addVideo(`t${index}`);
        const { error, sent } = await test.run("node", {
          transactionId: `t${index}`,
          transactionReference,
          deviceReference: "../..",
        });
        assert.equal(error, undefined, transactionReference);
        const payload = payloadOf(sent[0]?.msg);
        const isBlank = ["\u0000", " "].includes(transactionReference);
        assert.equal(payload.transactionReference, isBlank ? null : transactionReference);
        assert.ok(payload.folder.startsWith(`${root}/`), payload.folder);
        assert.equal(payload.folder.slice(root.length + 1).split("/").length, 3, payload.folder);
      }
      assert.equal((await readPackages(root)).size, references.length);
    });
  });

  it("takes the references of a message by the rule for all nodes: a scan with its line end, as text, number or Buffer", async () => {
    await withFolder(async (root) => {
      const test = await suite.start(root, archive(root));
      suite.addVideo("1");
      const { sent } = await test.run("node", {
        transactionId: "1",
        transactionReference: "\u0002ORDER-78\r\n",
        barcodeReference: Buffer.from("4006381333931\r"),
        customReference1: 7,
        customReference2: false,
        customReference3: "a b ",
      });
      assert.equal(payloadOf(sent[0]?.msg).transactionReference, "ORDER-78");
      const [manifest] = [...(await readPackages(root)).values()];
      assert.deepEqual(manifest?.references, {
        transactionReference: "ORDER-78",
        customReference1: "7",
        customReference2: null,
        customReference3: "a b",
        barcodeReference: "4006381333931",
      });
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
    ["a layout that climbs up", { layout: "../{reference}" }, { transactionId: "1" }, "ERR_CONFIG"],
    ["a layout with a slip", { layout: "{refrence}" }, { transactionId: "1" }, "ERR_CONFIG"],
    ["a wait that is no number", { wait: "long" }, { transactionId: "1" }, "ERR_CONFIG"],
    ["a kept property that none can be", { keep: "order number" }, { transactionId: "1" }, "ERR_CONFIG"],
    [
      "a property for the cloud that none can be",
      { cloudFrom: "the site" },
      { transactionId: "1" },
      "ERR_CONFIG",
    ],
    ["hours that are no number", { giveUp: "-1" }, { transactionId: "1" }, "ERR_CONFIG"],
    ["no download at all", { concurrency: 0 }, { transactionId: "1" }, "ERR_CONFIG"],
    ["a cloud that is gone", { cloud: "gone" }, { transactionId: "1" }, "ERR_CONFIG"],
    ["an image that no device has", { images: "annotated,infrared" }, { transactionId: "1" }, "ERR_CONFIG"],
    ["a list of media that names none", { media: "list" }, { transactionId: "1" }, "ERR_INPUT"],
    ["a rule that is none", { media: "most" }, { transactionId: "1" }, "ERR_CONFIG"],
    ["nothing to archive", { cloud: "" }, { transactionId: "1", payload: "text" }, "ERR_INPUT"],
    ["an empty Buffer", { cloud: "" }, { transactionId: "1", payload: Buffer.alloc(0) }, "ERR_INPUT"],
    ...(
      [
        ["an object, as a Join node makes it", { annotated: picture, color: picture }],
        ["a list of lists", [[picture]]],
        ["a Map", new Map([["color", picture]])],
        ["a list of messages", [{ payload: picture, filename: "color.jpg" }]],
        ["a text that would have to be decoded", `data:image/jpeg;base64,${picture.toString("base64")}`],
      ] as const
    ).map(
      ([where, payload]) =>
        [
          `pictures in ${where}`,
          { cloud: "" },
          { transactionId: "1", payload, measurement: measured },
          "ERR_INPUT",
        ] as const,
    ),
    [
      "a reference that is a rounded number",
      { cloud: "" },
      { transactionId: "1", payload: measured, customReference2: 2 ** 60 },
      "ERR_INPUT",
    ],
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
        const stores = [storeNode(" ", "no-folder")];
        const test = await suite.start(root, ...stores, archive(root, node));
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
        assert.equal(suite.sim.requests.length, 0);
        assert.equal(test.lastStatus("node")?.fill, "red");
      });
    });
  }

  it("says at the deploy that its folder is missing or its settings are wrong", async () => {
    await withFolder(async (root) => {
      const test = await suite.start(
        root,
        storeNode(join(root, "gone")),
        archive("", { store: "" }, "blank"),
        archive(join(root, "gone"), {}, "gone"),
        archive(root, { layout: "{x}" }, "layout"),
        archive(root, { keep: "order.id, order number" }, "keep"),
        archive(join(root, "gone"), { keep: "index, items[msg.index]" }, "nested"),
        archive(root, { cloud: "gone" }, "cloudless"),
      );
      await test.untilStatus("blank", ({ text }) => text === "config node missing");
      await test.untilStatus("gone", ({ text }) => text === "folder missing");
      await test.untilStatus("layout", ({ text }) => text === "check the settings");
      await test.untilStatus("keep", ({ text }) => text === "check the settings");
      await test.untilStatus("nested", ({ text }) => text === "folder missing");
      await test.untilStatus("cloudless", ({ text }) => text === "config node missing");
    });
  });

  it("shows that its folder is missing until the folder is there", async () => {
    await withFolder(async (root) => {
      const folder = join(root, "gone");
      const test = await suite.start(root, storeNode(folder), archive(folder));
      await test.untilStatus("node", ({ text }) => text === "folder missing");
      await mkdir(folder);
      await test.untilCleared("node");
    });
  });

  it("names what is missing, with what there is on msg.payload", async () => {
    await withFolder(async (root) => {
      suite.addVideo("1");
      const test = await suite.start(
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
      const test = await suite.start(root, archive(root, { wait: 600 }));
      const waiting = test.start("node", { transactionId: "1" });
      await test.untilStatus(
        "node",
        ({ fill, text }) => fill === "yellow" && text === "1 open, awaiting media",
      );
      await test.run("node", { reset: true });
      const { error } = await waiting;
      assert.equal(error?.code, "ERR_CANCELLED");
      assert.equal(error.cause.retryable, true);
      await test.deploy([...suite.configs(root), archive(root)], credentials);
      suite.addVideo("1");
      const { sent } = await test.run("node", { transactionId: "1" });
      assert.equal(payloadOf(sent[0]?.msg).alreadyArchived, false, "the dropped job was not done");
    });
  });

  it("drops on msg.reset also what is just asking whether to wait on", async () => {
    await withFolder(async (root) => {
      const test = await suite.start(root, archive(root, { media: "list", expect: "video/mp4", wait: 600 }));
      suite.sim.faults.add({ surface: "cloud", times: 0, fault: { kind: "delay", ms: 200 } });
      suite.sim.cloud.addMedia("1", { contentType: "image/jpeg", bytes: pictureOf("a") });
      const asked = suite.sim.nextRequest(({ path }) => path === "/api/transactionmedia/1");
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
      suite.addVideo("1");
      const test = await suite.start(
        root,
        archive(root, { wait: 600, media: "list", expect: "video/mp4,image/jpeg" }),
      );
      const ended = test.start("node", { transactionId: "1" });
      await test.untilStatus("node", ({ fill }) => fill === "yellow");
      suite.sim.faults.add({ surface: "cloud", times: 1, fault: { kind: "status", status: 401 } });
      await test.untilStatus("node", ({ fill, text }) => fill === "red" && text === "token rejected (1)");
      await rename(root, join(folder, "away"));
      suite.sim.cloud.addMedia("1", { contentType: "image/jpeg", bytes: pictureOf("x") });
      await test.untilStatus("node", ({ text }) => text === "folder missing (1)");
      await rename(join(folder, "away"), root);
      assert.equal((await ended).error, undefined);
      assert.equal((await readPackages(root)).size, 1);
    });
  });

  it("tells once, on its second output, of a parcel that is not archived yet, and goes on", async () => {
    await withFolder(async (root) => {
      const test = await suite.start(root, archive(root, { wait: 600, warnAfter: 0.2, keep: "order" }));
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
      suite.addVideo("1");
      assert.equal((await running).error, undefined);
      assert.deepEqual(
        test.sent.map(({ port }) => port),
        [1, 0],
      );
    });
  });

  it("tells of it once, over deploys and restarts", async () => {
    await withFolder(async (root) => {
      const node = (warnAfter: number): FlowNode => archive(root, { wait: 600, warnAfter });
      const test = await suite.start(root, node(0.2));
      const told = (): unknown[] =>
        test.sent.filter(({ port }) => port === 1).map(({ msg }) => payloadOf(msg).transactionId);
      const running = test.start("node", { transactionId: "1" });
      await until(() => told().includes("1"), "it is told of");
      for (let round = 0; round < 2; round += 1) {
        await test.deploy([...suite.configs(root), node(0.2)], credentials);
        await test.untilStatus("node", ({ fill }) => fill === "yellow");
      }
      await running;
      // Another one that is told of after it, by the same timer.
      const other = test.start("node", { transactionId: "2", transactionReference: "ORDER-2" });
      await until(() => told().includes("2"), "the other one is told of");
      suite.addVideo("1");
      suite.addVideo("2");
      assert.equal((await other).error, undefined);
      await test.untilSent("node", ({ transactionId, resumed }) => transactionId === "1" && resumed === true);
      assert.deepEqual(told(), ["1", "2"]);
    });
  });

  it("says when it is complete if nothing new comes, and does not wait where all that is known is there", async () => {
    await withFolder(async (root) => {
      const test = await suite.start(root, archive(root, { wait: 600, settle: 3 }));
      const video = {
        action: "start",
        at: new Date().toISOString(),
        transactionReference: "1",
        recording: "own",
      };
      suite.sim.cloud.addMedia("1", { contentType: "image/jpeg", generateBytes: 10_000 });
      const running = test.start("node", { transactionId: "1" });
      await test.untilStatus(
        "node",
        ({ fill, text }) => fill === "yellow" && text === "1 open, complete in 3 s",
      );
      await test.untilStatus("node", ({ text }) => text === "1 open, complete in 2 s");
      assert.equal((await running).error, undefined);
      await test.deploy([...suite.configs(root), archive(root, { wait: 600, settle: 600 })], credentials);
      for (const description of ["AnnotatedColorImageJpeg", "ColorImageJpeg", "DepthImage16Bit"]) {
        suite.sim.cloud.addMedia("2", { contentType: "image/jpeg", description, generateBytes: 10_000 });
      }
      const second = test.start("node", { transactionId: "2", video });
      await test.untilStatus("node", ({ text }) => text === "1 open, awaiting media");
      suite.addVideo("2");
      assert.equal((await second).error, undefined, "although the time to settle is 600 s");
    });
  });

  it("warns and goes on if the message of a parcel that is not archived yet cannot be sent", async () => {
    await withFolder(async (root) => {
      const test = await suite.start(root, archive(root, { wait: 600, warnAfter: 0.2 }));
      const node = test.node("node");
      const warnings: string[] = [];
      node.warn = (text: unknown) => void warnings.push(String(text));
      const { send } = node;
      node.send = () => {
        throw new RangeError("Maximum call stack size exceeded");
      };
      const running = test.start("node", { transactionId: "1" });
      const failed = (): boolean => warnings.some((text) => text.includes("Maximum call stack"));
      await until(failed, "it is said");
      node.send = send;
      suite.addVideo("1");
      assert.equal((await running).error, undefined);
    });
  });
});
