import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { Ajv2020 } from "ajv/dist/2020.js";
import { defaults as archiveDefaults } from "../../nodes/archive/archive.shared.ts";
import type { BillableWeight, Scan } from "../../src/model/shapes.ts";
import { readScan } from "../../src/scan/read-scans.ts";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { sentMessages } from "../../src/model/message-schemas.ts";
import { messageSchemas } from "../../tools/write-docs/schemas.ts";
import { pictureOf } from "../archive/support.ts";
import { withFolder } from "../media/support.ts";
import { TestFlow, type Message } from "../support/flow.ts";
import { resultOf } from "../billing/support.ts";
import { storeNode } from "../support/store-node.ts";
import { hasOpenSsl, startAuthority } from "../vault/timestamp/authority.ts";

const schemas = messageSchemas();
const code = "ABCD2345";
const credentials = { cloud: { token: "simulator" } };

describe("real messages fit the schemas in docs/messages.schema.json", () => {
  let ajv: Ajv2020;
  let schemaId: string;
  let sim: Simulator;
  let flow: TestFlow;
  const checked = new Set<string>();

  before(async () => {
    const file = join(import.meta.dirname, "../../docs/messages.schema.json");
    const schema = JSON.parse(await readFile(file, "utf8")) as { $id: string };
    schemaId = schema.$id;
    ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true }).addSchema(schema);
    sim = await startSimulator({ mode: "video-only", cloudDevices: 2 });
  });
  after(() => sim.close());
  afterEach(() => flow.stop());
  after("every kind of message that the page names was checked", () => {
    assert.deepEqual(
      [...checked].toSorted(),
      sentMessages.map(({ node, schema }) => `dimensioner-${node} ${schema}`).toSorted(),
    );
  });

  const check = (name: string, value: unknown): void => {
    const validate = ajv.getSchema(`${schemaId}#/$defs/${name}`) ?? assert.fail(`there is no ${name}`);
    assert.ok(validate(value), `${name}: ${ajv.errorsText(validate.errors)}`);
  };

  /** Runs one node; what has come onto its messages has to be all that the schema names, and no more. */
  async function run(
    name: keyof typeof schemas,
    node: { type: string } & Record<string, unknown>,
    msg: Message,
  ): Promise<Message[]> {
    flow = await TestFlow.start(
      [
        { id: "device", type: "dimensioner-device", address: sim.newer.origin },
        { id: "cloud", type: "dimensioner-cloud", baseUrl: sim.cloud.origin },
        ...(typeof node["folder"] === "string" ? [storeNode(node["folder"], "store")] : []),
        { id: "node", z: "tab", device: "device", cloud: "cloud", ...node },
      ],
      credentials,
    );
    const given = structuredClone(msg);
    const { error, sent } = await flow.run("node", msg);
    assert.equal(error, undefined, error?.message);
    assert.ok(sent.length > 0);
    for (const one of sent) {
      checkMessage(name, one.msg, given);
    }
    checked.add(`${node.type} ${name}`);
    return sent.map((one) => one.msg);
  }

  function checkMessage(name: keyof typeof schemas, msg: Message, given: Message): void {
    check(name, msg);
    const isNew = (property: string): boolean =>
      property !== "_msgid" && !isDeepStrictEqual(msg[property], given[property]);
    const named = Object.keys(schemas[name].properties ?? {});
    assert.deepEqual(
      Object.keys(msg).filter((property) => isNew(property) && !named.includes(property)),
      [],
      `${name} does not name this`,
    );
  }

  /** Every field that a payload's schema names, and no other. */
  const hasAllFieldsOf = (name: keyof typeof schemas, payload: unknown): void =>
    assert.deepEqual(
      Object.keys(payload as object).toSorted(),
      Object.keys(schemas[name].properties ?? {}).toSorted(),
      name,
    );

  it("measure", async () => {
    sim.newer.setMode("measurement-only");
    const [msg] = await run(
      "MeasureMessage",
      { type: "dimensioner-measure" },
      { transactionReference: "R", topic: "dock" },
    );
    hasAllFieldsOf("MeasureResult", msg?.["payload"]);
    const { measuredObjects } = msg?.["payload"] as { measuredObjects: unknown[] };
    hasAllFieldsOf("MeasuredObject", measuredObjects[0]);
  });

  it("measure, of a table that is empty", async () => {
    sim.newer.setParcel(null);
    await run("MeasureMessage", { type: "dimensioner-measure", failures: "output" }, {});
    sim.newer.setParcel("cube");
  });

  it("measure, of an earlier device", async () => {
    flow = await TestFlow.start([
      { id: "older", type: "dimensioner-device", address: sim.earlier.origin, generation: "earlier" },
      { id: "node", z: "tab", type: "dimensioner-measure", device: "older" },
    ]);
    const { sent } = await flow.run("node", {});
    checkMessage("MeasureMessage", sent[0]?.msg ?? {}, {});
  });

  it("remote trigger, measure", async () => {
    const node = { type: "dimensioner-remote-trigger", action: "measure", deviceReference: code };
    const [msg] = await run("RemoteMeasureMessage", node, { transactionReference: "R" });
    hasAllFieldsOf("MeasureResult", msg?.["payload"]);
  });

  it("video and remote trigger, start", async () => {
    sim.newer.setMode("video-only");
    for (const type of ["dimensioner-video-control", "dimensioner-remote-trigger"]) {
      const node = { type, action: "start", deviceReference: code };
      const [msg] = await run("VideoMessage", node, { transactionReference: "R", payload: "scan" });
      assert.deepEqual(Object.keys(msg?.["video"] ?? {}), schemas.VideoCommand.required);
      await flow.stop();
    }
    await run("VideoMessage", { type: "dimensioner-video-control", action: "cancel" }, {});
  });

  it("video, stop and measure, of a parcel whose recording another start has overwritten", async () => {
    sim.newer.setMode("video-only");
    flow = await TestFlow.start([
      { id: "device", type: "dimensioner-device", address: sim.newer.origin },
      { id: "start", z: "tab", type: "dimensioner-video-control", device: "device" },
      { id: "stop", z: "tab", type: "dimensioner-video-control", device: "device", action: "stop" },
      { id: "node", z: "tab", type: "dimensioner-measure", device: "device", tag: "customReference1" },
    ]);
    const startTwice = async (): Promise<void> => {
      await flow.run("start", { transactionReference: "R" });
      await flow.run("start", { transactionReference: "S" });
    };
    await startTwice();
    const { msg: stopped = {} } = (await flow.run("stop", { transactionReference: "R" })).sent[0] ?? {};
    checkMessage("VideoMessage", stopped, {});
    hasAllFieldsOf("VideoCommand", stopped["video"]);
    sim.newer.setMode("video-with-measurement");
    await startTwice();
    const given = { transactionReference: "R" };
    const { msg = {} } = (await flow.run("node", { ...given })).sent[0] ?? {};
    checkMessage("MeasureMessage", msg, given);
    hasAllFieldsOf("MeasuredBy", msg["measuredBy"]);
    hasAllFieldsOf("VideoStart", (msg["video"] as Message)["by"]);
  });

  it("fetch image, fetch video and fetch media, into the message and into a file", async () => {
    const { contentId } = sim.cloud.addMedia("905865", { contentType: "video/mp4", generateBytes: 200_000 });
    await record();
    const imageIdentifier = await measure();
    for (const [type, content, file, msg] of [
      ["dimensioner-fetch-image", "BufferMessage", "FileMessage", { imageIdentifier }],
      [
        "dimensioner-fetch-video",
        "VideoBufferMessage",
        "VideoFileMessage",
        { transactionReference: "R", video: { action: "start", at: "", transactionReference: "R" } },
      ],
      [
        "dimensioner-fetch-media",
        "BufferMessage",
        "FileMessage",
        { transactionId: "905865", payload: { contentId } },
      ],
    ] as const) {
      const [buffered] = await run(content, { type }, { ...msg });
      assert.ok(Buffer.isBuffer(buffered?.["payload"]));
      await flow.stop();
      await withFolder(async (folder) => {
        const [saved] = await run(file, { type, output: "file", folder }, { ...msg });
        hasAllFieldsOf("SavedFile", { recognized: false, ...(saved?.["payload"] as object) });
        await flow.stop();
      });
    }
  });

  it("media list, as one list and one message per item", async () => {
    sim.cloud.addMedia("T1", { contentType: "image/jpeg", generateBytes: 2000 });
    const type = "dimensioner-media-list";
    const [all] = await run("MediaListMessage", { type }, { transactionId: "T1" });
    hasAllFieldsOf("MediaItem", (all?.["payload"] as unknown[])[0]);
    await flow.stop();
    const [one] = await run("MediaItemMessage", { type, emit: "split" }, { transactionId: "T1" });
    hasAllFieldsOf("MessageParts", one?.["parts"]);
  });

  it("device list, as one list and one message per device", async () => {
    const type = "dimensioner-device-list";
    const [all] = await run("DeviceListMessage", { type }, {});
    const devices = all?.["payload"] as { terminal: unknown }[];
    hasAllFieldsOf("FleetDevice", { ...devices[0], removed: true });
    hasAllFieldsOf("Terminal", devices.find(({ terminal }) => terminal !== null)?.terminal);
    await flow.stop();
    const messages = await run("DeviceMessage", { type, emit: "split" }, {});
    assert.equal(messages.length, 3);
  });

  it("scan, a parcel and a control code", async () => {
    const type = "dimensioner-scan";
    const payload = "]C1001234567890123456750212312312312333330200125033120003503322000210333200012517300101";
    const [parcel] = await run("ScanMessage", { type }, { payload });
    const { elements, carriers, labelDims, labelWeight } = parcel?.["scan"] as Scan;
    for (const [name, value] of [
      ["Scan", parcel?.["scan"]],
      ["ScanCarrier", carriers[0]],
      ["LabelDimensions", labelDims],
      ["LabelWeight", labelWeight],
    ] as const) {
      hasAllFieldsOf(name, value);
    }
    assert.ok(elements.length > 5);
    await flow.stop();
    await run("ControlMessage", { type }, { payload: "VIDEO_START" });
  });

  it("billable weight, with limits and a label", async () => {
    const type = "dimensioner-billable-weight";
    const payload = resultOf([18, 12, 9]);
    const labelDims = { length: 18, width: 12, height: 9, unit: "in" };
    const scan = { ...readScan("ORDER-1"), labelDims, labelWeight: { weight: 1, unit: "lb" } };
    const [msg] = await run("BillableMessage", { type, preset: "ups" }, { payload, scan });
    const billable = msg?.["billable"] as BillableWeight;
    hasAllFieldsOf("BillableWeight", billable);
    hasAllFieldsOf("BillingThreshold", billable.thresholds[0]);
    hasAllFieldsOf("LabelDeviation", billable.deviation);
    hasAllFieldsOf("WeightDeviation", billable.deviation?.weight);
    hasAllFieldsOf("SideDeviation", billable.deviation?.sides?.[0]);
  });

  it("archive", async () => {
    sim.cloud.addMedia("T2", { contentType: "video/mp4", generateBytes: 50_000 });
    await withFolder(async (folder) => {
      const node = {
        ...archiveDefaults,
        type: "dimensioner-archive",
        cloud: "cloud",
        store: "store",
        settle: 0,
        folder,
      };
      const [msg] = await run("ArchiveMessage", node, { transactionId: "T2", transactionReference: "R" });
      hasAllFieldsOf("ArchivedPackage", msg?.["payload"]);
      await flow.stop();
    });
  });

  it("evidence, of each action", async () => {
    const authority = hasOpenSsl ? await startAuthority() : undefined;
    await withFolder(async (root) => {
      const [folder, exports] = [join(root, "archive"), join(root, "exports")];
      await Promise.all([mkdir(folder), mkdir(exports)]);
      const type = "dimensioner-evidence";
      const evidence = (id: string, more: object) => ({ id, z: "tab", type, store: "store", ...more });
      flow = await TestFlow.start([
        storeNode(folder, "store"),
        { id: "dock", type: "dimensioner-device", name: "Dock", address: "127.0.0.1:1", checkInterval: 0 },
        { id: "archive", z: "tab", type: "dimensioner-archive", store: "store", media: "none" },
        evidence("node", { action: "msg", limit: 10, server: authority?.url ?? "" }),
        evidence("split", { action: "msg", emit: "split" }),
        evidence("file", { action: "export", output: "file", folder: exports }),
      ]);
      const payload = pictureOf("1");
      await flow.run("archive", { transactionId: "1", transactionReference: "R", payload });
      // Its images are waited for, because nobody can reach the device.
      const measuredBy = { id: "dock", surface: "newer-device" };
      const measurement = { ok: true, source: "newer-device", measuredObjects: [{}] };
      const ofDevice = { transactionId: "2", measurement, measuredBy, imageIdentifier: "42" };
      const open = flow.start("archive", ofDevice);
      await flow.untilStatus("archive", ({ text }) => text.startsWith("no connection"));
      await flow.run("archive", { reset: true });
      assert.ok((await open).error !== undefined);
      let isOpen: boolean;
      do {
        const { sent } = await flow.run("node", { payload: "24h", action: "missing" });
        isOpen = JSON.stringify(sent[0]?.msg["payload"]).includes('"open"');
      } while (isOpen);
      const send = async (name: keyof typeof schemas, id: string, given: Message) => {
        const { error, sent } = await flow.run(id, structuredClone(given));
        assert.equal(error, undefined, error?.message);
        const msg = sent[0]?.msg ?? {};
        // A message for archive also has what archive takes.
        checkMessage(name, msg, name === "MissingMessage" ? { ...msg, missing: null, parts: null } : given);
        checked.add(`${type} ${name}`);
        return msg["payload"];
      };
      const given = { payload: "R", reason: "claim", person: "Anna" };
      const held = await send("EvidenceListMessage", "node", { ...given, action: "hold" });
      hasAllFieldsOf("EvidencePackage", (held as unknown[])[0]);
      hasAllFieldsOf("Hold", (held as { hold: unknown }[])[0]?.hold);
      await send("EvidenceTableMessage", "node", { ...given, action: "csv" });
      await send("EvidenceMessage", "split", { ...given, action: "find" });
      const missing = await send("MissingListMessage", "node", { payload: "24h", action: "missing" });
      hasAllFieldsOf("MissingEvidence", (missing as unknown[])[0]);
      await send("MissingMessage", "split", { payload: "24h", action: "missing" });
      hasAllFieldsOf("VerifyResult", await send("VerifyMessage", "node", { ...given, action: "verify" }));
      await send("ExportBufferMessage", "node", { ...given, action: "export" });
      await send("ExportFileMessage", "file", given);
      hasAllFieldsOf("PruneResult", await send("PruneMessage", "node", { action: "prune" }));
      hasAllFieldsOf("StoreState", await send("StoreStateMessage", "node", { action: "state" }));
      if (authority === undefined) {
        // Nothing on this computer can sign a time stamp.
        checked.add(`${type} TimestampMessage`);
      } else {
        const made = await send("TimestampMessage", "node", { action: "timestamp" });
        hasAllFieldsOf("TimestampResult", made);
      }
      await send("CheckpointMessage", "node", { action: "checkpoint" });
      await flow.stop();
    });
    await authority?.close();
  });

  it("archive, of a parcel that is not archived yet", async () => {
    await withFolder(async (folder) => {
      const given = { transactionId: "T3", transactionReference: "R" };
      const archive = { ...archiveDefaults, type: "dimensioner-archive", cloud: "cloud", store: "store" };
      flow = await TestFlow.start(
        [
          { id: "cloud", type: "dimensioner-cloud", baseUrl: sim.cloud.origin },
          storeNode(folder, "store"),
          { id: "node", z: "tab", ...archive, warnAfter: 0.05 },
        ],
        credentials,
      );
      const ended = flow.start("node", given);
      const { msg } = await flow.untilSent("node", ({ payload }) => payload !== undefined);
      checkMessage("HeldUpMessage", msg, given);
      hasAllFieldsOf("HeldUp", msg["payload"]);
      checked.add("dimensioner-archive HeldUpMessage");
      await flow.run("node", { reset: true });
      await ended;
      await flow.stop();
    });
  });

  it("transaction in, of both versions of the record", async () => {
    flow = await TestFlow.start([
      { id: "node", z: "tab", type: "dimensioner-transaction-in", path: "/hook", secretIn: "none" },
    ]);
    const server = createServer(flow.webApp).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    assert.ok(typeof address === "object" && address !== null);
    const url = `http://127.0.0.1:${address.port}/hook`;
    const cloud = await startSimulator({ webhooks: [{ url, version: "v1" }] });
    const other = await startSimulator({ webhooks: [{ url, version: "v2" }], seed: 2 });
    try {
      for (const one of [cloud, other]) {
        const posted = one.nextEvent(({ type }) => type === "webhook");
        await one.newer.scanAtDevice("395212340000004173");
        await posted;
      }
      await flow.untilStatus("node", ({ text }) => text === "received: 2");
      assert.equal(flow.sent.length, 2);
      for (const { msg } of flow.sent) {
        checkMessage("TransactionMessage", msg, {});
        checkMessage("TransactionMessage", { ...msg, resumed: true }, {});
        checked.add("dimensioner-transaction-in TransactionMessage");
        // Nothing that the simulator posts is unreadable.
        hasAllFieldsOf("TransactionRecord", { ...(msg["payload"] as object), unreadable: {} });
      }
    } finally {
      await cloud.close();
      await other.close();
      server.closeAllConnections();
      server.close();
    }
  });

  it("errors, of every surface", async () => {
    sim.newer.setMode("measurement-only");
    sim.newer.setParcel(null);
    const image = { device: "device", output: "file", imageIdentifier: "1", imageIdentifierType: "str" };
    flow = await TestFlow.start(
      [
        { id: "device", type: "dimensioner-device", address: sim.newer.origin },
        { id: "older", type: "dimensioner-device", address: sim.earlier.origin, generation: "earlier" },
        { id: "cloud", type: "dimensioner-cloud", baseUrl: sim.cloud.origin },
        ...(
          [
            ["failed", "measure", { device: "device" }],
            ["unset", "measure", {}],
            ["mode", "video-control", { device: "device", action: "start" }],
            ["generation", "video-control", { device: "older", action: "start" }],
            ["no-id", "fetch-image", { device: "device" }],
            ["unknown", "media-list", { cloud: "cloud" }],
            ["late", "media-list", { cloud: "cloud", expect: "video/mp4" }],
            ["wrong", "remote-trigger", { cloud: "cloud", action: "stop", deviceReference: "ZZZZ9999" }],
            ["disk", "fetch-image", { ...image, folder: "/nowhere/at/all" }],
          ] as const
        ).map(([id, type, more]) => ({ id, z: "tab", type: `dimensioner-${type}`, ...more })),
      ],
      credentials,
    );
    sim.cloud.addMedia("T3", { contentType: "image/jpeg", generateBytes: 2000 });
    const seen = new Map<string, string>();
    for (const [id, transactionId] of Object.entries({
      failed: "",
      unset: "",
      mode: "",
      generation: "",
      "no-id": "",
      unknown: "nobody-knows",
      late: "T3",
      wrong: "",
      disk: "T3",
    })) {
      const { error } = await flow.run(id, { transactionId });
      assert.ok(error !== undefined, id);
      // What Node-RED's runtime takes from an error for msg.error, beside the node that it came from.
      check("ErrorObject", { code: error.code, message: error.toString(), cause: error.cause });
      const named = Object.keys(schemas.ErrorDetails.properties ?? {});
      assert.deepEqual(
        Object.keys(error.cause).filter((property) => !named.includes(property)),
        [],
        id,
      );
      seen.set(id, error.code);
    }
    assert.deepEqual(Object.fromEntries(seen), {
      failed: "ERR_MEASURE_FAILED",
      unset: "ERR_CONFIG",
      mode: "ERR_WRONG_MODE",
      generation: "ERR_CONFIG",
      "no-id": "ERR_INPUT",
      unknown: "ERR_NOT_FOUND",
      late: "ERR_MEDIA_INCOMPLETE",
      wrong: "ERR_BAD_DEVICE_REFERENCE",
      disk: "ERR_FILE",
    });
  });

  async function record(): Promise<void> {
    sim.newer.setMode("video-only");
    await fetch(`${sim.newer.origin}/api/v1/video/start`, { method: "POST" });
    await fetch(`${sim.newer.origin}/api/v1/video/stop`, { method: "POST" });
  }

  async function measure(): Promise<string> {
    const other = sim.newer.state.mode;
    sim.newer.setMode("measurement-only");
    const answer = await fetch(`${sim.newer.origin}/api/v1/measure`);
    sim.newer.setMode(other);
    return ((await answer.json()) as { imageIdentifier: string }).imageIdentifier;
  }
});

it("a wrong message does not fit its schema", () => {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
  const validate = ajv.compile({ $defs: schemas, $ref: "#/$defs/SavedFile" });
  const good = { path: "/a", bytes: 1, sha256: "0".repeat(64), contentType: "image/jpeg" };
  assert.ok(validate(good));
  for (const wrong of [{ ...good, bytes: -1 }, { ...good, sha256: "x" }, { path: "/a" }, null, []]) {
    assert.ok(!validate(wrong), JSON.stringify(wrong));
  }
});
