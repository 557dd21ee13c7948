import assert from "node:assert/strict";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { readManifest } from "../../src/vault/packages/manifest.ts";
import type { MeasuredBy } from "../../src/model/shapes.ts";
import { readScan } from "../../src/scan/read-scans.ts";
import { startSimulator } from "../../src/simulator/index.ts";
import { withFolder } from "../media/support.ts";
import { TestFlow, type FlowNode, type Message } from "../support/flow.ts";
import { type Answer, type RawRequest, replyJson, startServer } from "../support/servers.ts";
import { storeNode } from "../support/store-node.ts";

const path = "/dimensioner/transaction";

function deviceNode(id: string, more: object): FlowNode {
  return { id, type: "dimensioner-device", name: `Device ${id}`, address: "127.0.0.1:9", ...more };
}

const dock4 = deviceNode("dock-4", { serialNumber: "SN-4", certificate: "AM-4", cloudIds: "abcd2345, D-4" });
const receiving = { id: "in", z: "tab", type: "dimensioner-transaction-in", path, secretIn: "none" };

describe("the device of what comes from the cloud", () => {
  let flow: TestFlow;
  let server: Server;

  const start = async (nodes: readonly FlowNode[], credentials: object = {}): Promise<void> => {
    flow = await TestFlow.start(nodes, { cloud: { token: "simulator" }, ...credentials });
    server = createServer(flow.webApp);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  };
  const stop = async (): Promise<void> => {
    await flow.stop();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  /** Posts a record, and returns the message that the node makes of it. */
  const receive = async (record: {
    readonly id: number;
    readonly [name: string]: unknown;
  }): Promise<Message> => {
    const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ errorCode: 0, ...record }),
    });
    assert.equal(answer.status, 204);
    for (;;) {
      // A deploy has another one sent again that no node had got.
      const found = flow.sent.find(({ msg }) => msg["transactionId"] === String(record.id));
      if (found !== undefined) {
        return found.msg;
      }
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const instrumentOf = ({ payload }: Message): unknown[] => {
    const { deviceSerialNumber, deviceCertificate } = payload as Record<string, unknown>;
    return [deviceSerialNumber, deviceCertificate];
  };

  const nameOf = ({ payload }: Message): unknown => (payload as Record<string, unknown>)["device"];

  it("has the name, the serial number and the certificate of the config node that names its ID", async () => {
    const sharing = ["1", "2"].map((id) => deviceNode(id, { serialNumber: `SN-${id}`, cloudIds: "twice" }));
    const same = ["3", "4"].map((id) => deviceNode(id, { serialNumber: "SN-3", cloudIds: "same" }));
    await start([dock4, ...sharing, ...same, receiving]);
    try {
      assert.deepEqual(instrumentOf(await receive({ id: 1, deviceClientId: "d-4" })), ["SN-4", "AM-4"]);
      assert.deepEqual(instrumentOf(await receive({ id: 2, deviceClientId: "d-5" })), [null, null]);
      assert.deepEqual(instrumentOf(await receive({ id: 3 })), [null, null]);
      assert.deepEqual(instrumentOf(await receive({ id: 4, deviceClientId: "twice" })), [null, null]);
      assert.deepEqual(instrumentOf(await receive({ id: 5, deviceClientId: "same" })), ["SN-3", null]);
      const claimed = { deviceSerialNumber: "of the sender", deviceCertificate: "of the sender" };
      assert.deepEqual(instrumentOf(await receive({ id: 6, ...claimed })), [null, null]);
      await flow.deploy([{ ...dock4, serialNumber: "SN-40" }, receiving], {});
      assert.deepEqual(instrumentOf(await receive({ id: 7, deviceClientId: "D-4" })), ["SN-40", "AM-4"]);
      await flow.deploy([dock4, { ...dock4, id: "copy" }, ...same, receiving], {});
      assert.equal(
        nameOf(await receive({ id: 8, deviceClientId: "d-4", device: "of the sender" })),
        "Device dock-4",
      );
      assert.equal(nameOf(await receive({ id: 9, deviceClientId: "same" })), null);
      assert.equal(nameOf(await receive({ id: 10, device: "of the sender" })), null);
    } finally {
      await stop();
    }
  });

  const lists = (requests: readonly RawRequest[]): number =>
    requests.filter(({ target }) => target.endsWith("/api/deviceclients")).length;
  const cloudNode = (id: string, baseUrl: string): FlowNode => {
    return { id, type: "dimensioner-cloud", name: `Cloud ${id}`, baseUrl, allowHttp: true, checkInterval: 0 };
  };

  it("has the name with which it is registered, if no config node names it, of one list for all records", async () => {
    const listing =
      (...devices: object[]): Answer =>
      ({ target }, socket) =>
        replyJson(socket, target.includes("measure") ? { errorCode: 7 } : devices);
    const dock5 = { id: "D-5", name: " Dock\u00005\u202e\n", registrationCode: "WXYZ2345" };
    const one = await startServer(listing(dock5, { id: "D-4", name: "In the cloud" }, { id: "D-6" }));
    const other = await startServer(listing({ id: "d-5", name: "Dock 5" }, { id: "D-6", name: "Dock 6" }));
    const differing = await startServer(listing({ id: "D-5", name: "Hall 5" }));
    try {
      await withFolder(async (folder) => {
        const nodes = [
          dock4,
          receiving,
          cloudNode("cloud", one.origin),
          cloudNode("other", other.origin),
          storeNode(folder, "store"),
          { id: "archive", z: "tab", type: "dimensioner-archive", store: "store", layout: "{device}" },
          { id: "trigger", z: "tab", type: "dimensioner-remote-trigger", cloud: "cloud", action: "measure" },
        ].map((node) =>
          node.id === "trigger"
            ? { ...node, deviceReference: "deviceReference", deviceReferenceType: "msg" }
            : node,
        );
        await start(nodes, { other: { token: "other" } });
        try {
          const together = [1, 2, 3].map((id) => receive({ id, deviceClientId: "D-5", errorCode: 0 }));
          assert.deepEqual((await Promise.all(together)).map(nameOf), ["Dock 5", "Dock 5", "Dock 5"]);
          assert.equal(nameOf(await receive({ id: 4, deviceClientId: "D-4" })), "Device dock-4");
          assert.equal(nameOf(await receive({ id: 5, deviceClientId: "d-6" })), "Dock 6");
          assert.equal(nameOf(await receive({ id: 6, deviceClientId: "D-7" })), null);
          assert.equal(nameOf(await receive({ id: 7 })), null);
          // What came before the name was known is archived with it.
          const unnamed = { payload: { source: "webhook", deviceClientId: "D-5", device: null } };
          const archived = await flow.run("archive", { ...unnamed, transactionId: "8" });
          assert.equal(archived.error, undefined, archived.error?.message);
          const { manifest } = archived.sent[0]?.msg["payload"] as { manifest: string };
          assert.equal(readManifest(await readFile(manifest, "utf8"))?.device, "Dock 5");
          assert.match(manifest, /Dock 5\/manifest\.json$/);
          const seen = { payload: { source: "webhook", cameraSerialId: "CAM-1" }, transactionId: "10" };
          const [of] = (await flow.run("archive", seen)).sent;
          assert.match(
            String((of?.msg["payload"] as { manifest: unknown }).manifest),
            /CAM-1\/manifest\.json$/,
          );
          const failed = await flow.run("trigger", { payload: "ORDER-1", deviceReference: "WXYZ2345" });
          assert.equal(failed.error?.cause.device, "Dock 5");
          const unknown = await flow.run("trigger", { payload: "ORDER-2", deviceReference: "NOBODY22" });
          assert.equal(unknown.error?.cause.device, "NOBODY22");
          assert.deepEqual([lists(one.requests), lists(other.requests)], [1, 1]);
          await flow.deploy([...nodes, cloudNode("differing", differing.origin)], {
            cloud: { token: "simulator" },
            other: { token: "other" },
            differing: { token: "differing" },
          });
          assert.equal(nameOf(await receive({ id: 9, deviceClientId: "D-5" })), null);
        } finally {
          await stop();
        }
      });
    } finally {
      await Promise.all([one.close(), other.close(), differing.close()]);
    }
  });

  it("has the name of the list by which the cloud's config node was last checked", async () => {
    const cloud = await startServer((_, socket) => replyJson(socket, [{ id: "D-5", name: "Dock 5" }]));
    try {
      const trigger = { id: "trigger", z: "tab", type: "dimensioner-remote-trigger", cloud: "cloud" };
      await start([{ ...cloudNode("cloud", cloud.origin), checkInterval: 3600 }, receiving, trigger]);
      try {
        await flow.untilStatus("trigger", ({ text }) => text === "reachable");
        assert.equal(nameOf(await receive({ id: 1, deviceClientId: "D-5" })), "Dock 5");
        assert.equal(nameOf(await receive({ id: 2, deviceClientId: "D-6" })), null);
        assert.equal(lists(cloud.requests), 1);
      } finally {
        await stop();
      }
    } finally {
      await cloud.close();
    }
  });

  it("is waited for only a moment, and only once, where the cloud does not answer", async () => {
    const silent = await startServer(() => undefined);
    try {
      await start([cloudNode("cloud", silent.origin), receiving]);
      try {
        const began = performance.now();
        const records = [1, 2].map((id) => receive({ id, deviceClientId: `D-${id}` }));
        assert.deepEqual((await Promise.all(records)).map(nameOf), [null, null]);
        assert.ok(performance.now() - began < 20_000, "long before the request is given up");
        assert.equal(nameOf(await receive({ id: 3, deviceClientId: "D-1" })), null);
        assert.equal(lists(silent.requests), 1);
      } finally {
        await stop();
      }
    } finally {
      await silent.close();
    }
  });

  it("is known to a remote trigger by its registration code", async () => {
    const sim = await startSimulator();
    try {
      const trigger = { id: "trigger", z: "tab", type: "dimensioner-remote-trigger", cloud: "cloud" };
      await start([
        dock4,
        { id: "cloud", type: "dimensioner-cloud", name: "Hub", baseUrl: sim.cloud.origin, allowHttp: true },
        { ...trigger, action: "measure", deviceReference: "ABCD2345", transactionReference: "payload" },
      ]);
      try {
        const { error, sent } = await flow.run("trigger", { payload: "ORDER-1" });
        assert.equal(error, undefined, error?.message);
        const msg = sent[0]?.msg ?? assert.fail();
        assert.deepEqual([nameOf(msg), ...instrumentOf(msg)], ["Device dock-4", "SN-4", "AM-4"]);
        const { name, deviceReference } = msg["measuredBy"] as MeasuredBy;
        assert.deepEqual([name, deviceReference], ["Hub", "ABCD2345"]);
        sim.newer.setParcel(null);
        const failed = await flow.run("trigger", { payload: "ORDER-2" });
        assert.equal(failed.error?.cause.device, "Device dock-4");
      } finally {
        await stop();
      }
    } finally {
      await sim.close();
    }
  });

  it("is in the store with the billed weight and the scan, also in the package of its transaction", async () => {
    await withFolder(async (folder) => {
      const weigh = { id: "weigh", z: "tab", type: "dimensioner-billable-weight", preset: "dhl-express" };
      const archive = { id: "archive", z: "tab", type: "dimensioner-archive", store: "store" };
      const stored = { ...receiving, store: "store" };
      await start([dock4, storeNode(folder, "store"), stored, weigh, archive]);
      try {
        const bill = async (id: number): Promise<Message> => {
          const sides = {
            length: 40,
            width: 30,
            height: 20,
            measurementUnitOfMeasureCd: "cm",
            weightUnitOfMeasureCd: "kg",
          };
          const received = await receive({ id, deviceClientId: "D-4", weight: 2, ...sides });
          received["scan"] = readScan("]C100395212340000004173");
          const { error, sent } = await flow.run("weigh", { ...received, weightUnit: "kg" });
          assert.equal(error, undefined, error?.message);
          return sent[0]?.msg ?? assert.fail();
        };
        const handled = await flow.run("in", await bill(1));
        assert.equal(handled.error, undefined, handled.error?.message);
        const archived = await flow.run("archive", await bill(2));
        assert.equal(archived.error, undefined, archived.error?.message);
        await bill(3);

        const columns =
          "transaction_id, device_serial_number, device_certificate, billable_weight, billable_unit, " +
          "billable_legal_for_trade, scan";
        const rowsOf = (table: string) =>
          flow.rowsOf("store", `SELECT ${columns} FROM ${table}`).map((row) => Object.values(row));
        const known = ["SN-4", "AM-4", 5, "kg", "unknown", "00395212340000004173"];
        assert.deepEqual(rowsOf("records"), [
          ["1", ...known],
          ["2", ...known],
          ["3", "SN-4", "AM-4", null, null, null, null],
        ]);
        assert.deepEqual(rowsOf("packages"), [["2", ...known]]);
        const { manifest } = archived.sent[0]?.msg["payload"] as { manifest: string };
        const { instrument, device } = readManifest(await readFile(manifest, "utf8")) ?? {};
        assert.deepEqual(
          [device, instrument],
          ["Device dock-4", { serialNumber: "SN-4", certificate: "AM-4" }],
        );
      } finally {
        await stop();
      }
    });
  });
});
