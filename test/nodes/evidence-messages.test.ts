import assert from "node:assert/strict";
import { createRequire } from "node:module";
import type { NodeAPI } from "node-red";
import { startSimulator } from "../../src/simulator/index.ts";
import { pictureOf, readPackages } from "../archive/support.ts";
import { withFolder } from "../media/support.ts";
import { nested } from "../support/deep-message.ts";
import { TestFlow } from "../support/flow.ts";
import { nodeRedMajor } from "../support/node-red.ts";
import { storeId, storeNode } from "../support/store-node.ts";

const require = createRequire(import.meta.url);
const core = createRequire(require.resolve(`node-red-${nodeRedMajor}`));
const { util } = core("@node-red/util") as Pick<NodeAPI, "util">;

describe("dimensioner-evidence: one message for each item", () => {
  let flow: TestFlow;
  const { cloneMessage } = util;
  /** The payloads of all messages that were copied. */
  const copied: unknown[] = [];

  beforeEach(() => {
    copied.length = 0;
    util.cloneMessage = (msg) => {
      copied.push(msg.payload);
      return cloneMessage(msg);
    };
  });
  afterEach(async () => {
    util.cloneMessage = cloneMessage;
    await flow.stop();
  });

  it("copies for none of them the list of all, which would hold up Node-RED, nor a message that is nested too deeply", () =>
    withFolder(async (folder) => {
      const store = storeId(folder);
      const archive = { z: "tab", type: "dimensioner-archive", store, layout: "{transactionId}" };
      const evidence = { z: "tab", type: "dimensioner-evidence", store, emit: "split" };
      flow = await TestFlow.start([
        storeNode(folder),
        { id: "archive", ...archive, media: "none" },
        { id: "find", ...evidence, action: "find", by: "all" },
        { id: "missing", ...evidence, action: "missing" },
      ]);
      const ids = ["1", "2", "3"];
      for (const transactionId of ids) {
        const { error } = await flow.run("archive", { transactionId, payload: pictureOf(transactionId) });
        assert.equal(error, undefined);
      }
      const open = ids.map((id) => {
        const parts = { id, index: 0, count: 2 };
        return flow.start("archive", { transactionId: `open ${id}`, payload: pictureOf(id), parts });
      });
      await flow.untilStatus("archive", ({ text }) => text.includes("3 open"));
      copied.length = 0;
      const found = await flow.run("find", { payload: [pictureOf("large")], topic: "parcels" });
      assert.deepEqual(
        found.sent.map(({ msg }) => [
          msg["topic"],
          (msg["payload"] as { transactionId: string }).transactionId,
        ]),
        ["3", "2", "1"].map((id) => ["parcels", id]),
      );
      const missing = await flow.run("missing", { payload: "24h" });
      assert.deepEqual(
        missing.sent.map(({ port, msg }) => [port, msg["payload"]]),
        ids.map(() => [1, null]),
      );
      assert.ok(copied.length >= 6);
      assert.deepEqual(
        copied.filter((payload) => Array.isArray(payload)),
        [],
      );
      for (const [node, payload] of [
        ["find", "all"],
        ["missing", "24h"],
      ] as const) {
        const { error, sent } = await flow.run(node, { payload, order: nested(10_000) });
        assert.deepEqual([error?.code, sent], ["ERR_INPUT", []]);
        assert.match(error?.message ?? "", /nested too deeply/);
      }
      await flow.run("archive", { reset: true });
      await Promise.all(open);
    }));

  it("names nothing of the parcel whose message has asked what is missing", () =>
    withFolder(async (folder) => {
      const sim = await startSimulator();
      const cloud = { id: "cloud", type: "dimensioner-cloud", name: "A", baseUrl: sim.cloud.origin };
      const store = storeId(folder);
      const archive = { z: "tab", type: "dimensioner-archive", store, cloud: "cloud", settle: 0, wait: 0.1 };
      const missing = { z: "tab", type: "dimensioner-evidence", store, action: "missing", emit: "split" };
      const keys = { cloud: { token: sim.cloud.token } };
      try {
        flow = await TestFlow.start(
          [
            storeNode(folder),
            cloud,
            { id: "archive", ...archive },
            { id: "open", ...archive, wait: 600 },
            { id: "missing", ...missing },
          ],
          keys,
        );
        const other = { transactionId: "Y", transactionReference: "ORDER-Y" };
        assert.equal((await flow.run("archive", { ...other })).error?.code, "ERR_MEDIA_INCOMPLETE");
        const parts = { id: "s", index: 0, count: 2 };
        const open = flow.start("open", { transactionId: "Z", payload: pictureOf("z"), parts });
        await flow.untilStatus("open", ({ text }) => text.includes("1 open"));
        const asked = { ...ofParcel, payload: "24h", topic: "every morning" };
        const { sent } = await flow.run("missing", asked);
        await flow.run("open", { reset: true });
        await open;
        const [again, rest] = [0, 1].map((of) => sent.find(({ port }) => port === of)?.msg);
        for (const msg of [again, rest]) {
          const { _msgid, topic, missing: found, parts: own, payload, ...more } = msg ?? assert.fail();
          assert.deepEqual(
            [topic, payload ?? null, typeof found, typeof own],
            ["every morning", null, "object", "object"],
          );
          const known = Object.values(more).filter(
            (value) => value !== null && value !== "Y" && value !== "ORDER-Y",
          );
          assert.deepEqual(known, [], String(_msgid));
        }
        sim.cloud.addMedia("Y", { contentType: "image/jpeg", bytes: pictureOf("y") });
        const { error } = await flow.run("archive", again ?? assert.fail());
        assert.equal(error, undefined);
        const [manifest] = (await readPackages(folder)).values();
        assert.deepEqual(
          [
            manifest?.transactionId,
            manifest?.references.transactionReference,
            manifest?.raw,
            manifest?.measurement,
          ],
          ["Y", "ORDER-Y", null, null],
        );
        assert.deepEqual([manifest?.measuredBy, manifest?.billable, manifest?.scan], [null, null, null]);
      } finally {
        await sim.close();
      }
    }));
});

/** What the message of another parcel has when it comes from a Catch node. */
const ofParcel = {
  transactionId: "X",
  transactionReference: "ORDER-X",
  customReference1: "one",
  customReference2: "two",
  customReference3: "three",
  barcodeReference: "4006381333931",
  device: "Dock 4",
  deviceReference: "ABCD2345",
  deviceClientId: "client",
  cameraSerialId: "camera",
  measurement: { source: "webhook", transactionId: "X" },
  rawResponse: '{"errorCode":0}',
  measuredBy: { id: "dock", name: "Dock 4", surface: "cloud", serialNumber: "SN-1", certificate: "AM-7001" },
  imageIdentifier: "20261102",
  video: {
    action: "start",
    transactionReference: "ORDER-X",
    at: "2026-11-02T09:14:00.000Z",
    recording: "taken",
    by: null,
  },
  billable: {
    weight: 2,
    unit: "kg",
    basis: "dimensional",
    explanation: "1 × 1 × 1 cm",
    ruleId: "dhl-express",
    ruleDate: null,
    legalForTrade: true,
    computed: true,
  },
  scan: { text: "ORDER-X", symbology: null, sscc: null },
  contentType: "image/jpeg",
  contentId: "1",
  description: "AnnotatedImageJpeg",
  filename: "a.jpg",
  error: { message: "", code: "ERR_MEDIA_INCOMPLETE" },
  resumed: true,
};
