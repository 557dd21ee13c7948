import assert from "node:assert/strict";
import type { MeasuredBy, MeasureResult } from "../../src/model/shapes.ts";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { TestFlow } from "../support/flow.ts";
import { replyJson, startServer } from "../support/servers.ts";

describe("dimensioner-measure", () => {
  let sim: Simulator;
  let flow: TestFlow;
  const start = async (properties: object = {}, device: object = {}): Promise<void> => {
    flow = await TestFlow.start([
      { id: "device", type: "dimensioner-device", address: sim.newer.origin, ...device },
      { id: "node", z: "tab", type: "dimensioner-measure", device: "device", ...properties },
    ]);
  };

  beforeEach(async () => {
    sim = await startSimulator();
  });
  afterEach(async () => {
    await flow.stop();
    await sim.close();
  });

  it("puts the result, the exact answer and the references on the message", async () => {
    await start({ customReference1: "A", customReference3: "shift", customReference3Type: "msg" });
    sim.newer.setParcel({ lengthCm: 10.5, widthCm: 20, heightCm: 30.5, weightKg: 2, barcode: "X" });
    const { sent } = await flow.run("node", { transactionReference: "ORDER-7", shift: 2, payload: "scan" });
    const msg = sent[0]?.msg ?? {};
    const result = msg["payload"] as Record<string, unknown>;
    assert.deepEqual(
      [
        result["ok"],
        result["source"],
        result["measurementFidelity"],
        result["customReference1"],
        result["customReference3"],
      ],
      [true, "newer-device", 0.5, "A", "2"],
    );
    assert.equal(msg["transactionReference"], "ORDER-7");
    assert.equal(msg["imageIdentifier"], result["imageIdentifier"]);
    assert.equal(
      (JSON.parse(String(msg["rawResponse"])) as Record<string, unknown>)["measurementFidelity"],
      "0.5",
      "the exact answer keeps what the result makes uniform",
    );
    assert.equal(flow.lastStatus("node")?.text, "10.5×20×30.5 cm, 2 kg · ORDER-7");
  });

  it("takes spaces around the device's reference for none of it, and a blank one for none", async () => {
    let transactionReference: unknown;
    const server = await startServer((_, socket) =>
      replyJson(socket, { errorCode: 3, transactionReference }),
    );
    try {
      await start({ failures: "output" }, { address: server.origin });
      for (const [said, reference] of [
        ["ORDER-7  ", "ORDER-7"],
        [" ", "ORDER-7"],
        ["", "ORDER-7"],
        [null, "ORDER-7"],
        [" ORDER-8\r\n", "ORDER-8"],
      ]) {
        transactionReference = said;
        const { sent } = await flow.run("node", { transactionReference: "ORDER-7" });
        const { payload, ...msg } = sent[0]?.msg ?? {};
        assert.equal(msg["transactionReference"], reference);
        assert.equal((payload as MeasureResult).transactionReference, said, "as the device sent it");
      }
    } finally {
      await server.close();
    }
  });

  it("leaves nothing of an earlier measurement on the message that archive would archive with the new one", async () => {
    await start();
    const earlier = { billable: { weight: 2.5, unit: "kg" }, measurement: { measuredObjects: [{}] } };
    const { sent } = await flow.run("node", { ...earlier, scan: { text: "A" } });
    const { billable, measurement, scan } = sent[0]?.msg ?? assert.fail();
    assert.deepEqual([billable, measurement, scan], [undefined, undefined, { text: "A" }]);
  });

  it("says that its config node is disabled, and not that none is selected", async () => {
    await start({}, { d: true });
    assert.equal(flow.lastStatus("node")?.text, "config node disabled");
    const { error } = await flow.run("node", {});
    assert.equal(error?.code, "ERR_CONFIG");
    assert.match(error.message, /^The selected device is disabled\. Enable its config node/);
  });

  it("says when it is deployed that a setting cannot be used, and measures nothing", async () => {
    for (const properties of [{ ifBlank: "perhaps" }, { ignoreRepeats: "long" }, { failures: "hide" }]) {
      await start(properties);
      await flow.untilStatus("node", ({ fill, text }) => fill === "red" && text === "check the settings");
      const { error, sent } = await flow.run("node", { transactionReference: "ORDER-7" });
      assert.deepEqual([error?.code, error?.cause.outcome, sent], ["ERR_CONFIG", "not-sent", []]);
      assert.match(error?.message ?? "", /^The node setting “/);
      await flow.stop();
    }
    await start();
    assert.equal(sim.newer.actions.measures, 0);
  });

  it("copies the device's serial number and certificate, and says null where they are not given", async () => {
    const device = { id: "device", type: "dimensioner-device", name: "Dock 4", address: sim.newer.origin };
    const node = { id: "node", z: "tab", type: "dimensioner-measure", device: "device" };
    const copied = async () => {
      const { sent } = await flow.run("node", {});
      const { payload, measuredBy } = sent[0]?.msg ?? {};
      const { deviceSerialNumber, deviceCertificate } = payload as MeasureResult;
      const { serialNumber, certificate } = measuredBy as MeasuredBy;
      return [deviceSerialNumber, deviceCertificate, serialNumber, certificate];
    };
    flow = await TestFlow.start([{ ...device, serialNumber: " SN-1 ", certificate: "AM-7001" }, node]);
    assert.deepEqual(await copied(), ["SN-1", "AM-7001", "SN-1", "AM-7001"]);
    await flow.stop();
    flow = await TestFlow.start([{ ...device, serialNumber: " " }, node]);
    assert.deepEqual(await copied(), [null, null, null, null]);
  });

  it("shows what it measured, whatever the flow has made of the message by then", async () => {
    await sim.close();
    sim = await startSimulator({ measureMs: 0 });
    await start();
    flow.node("out-0").on("input", ({ payload }) => {
      assert.ok(typeof payload === "object" && payload !== null);
      for (const name of Object.keys(payload)) {
        Reflect.deleteProperty(payload, name);
      }
    });
    // Measured until what is shown lags behind: after some in a row the status has no update left for the last one.
    let shown = "";
    for (let lengthCm = 1; flow.lastStatus("node")?.text.startsWith(shown) ?? true; lengthCm++) {
      sim.newer.setParcel({ lengthCm, widthCm: 22, heightCm: 33, weightKg: 2, barcode: "X" });
      await flow.run("node", {});
      shown = `${lengthCm}×22×33 cm`;
    }
    await flow.untilStatus("node", ({ text }) => text.startsWith(shown));
  });

  it("gives a failed measurement to the Catch node, with the result on the message", async () => {
    await start();
    sim.newer.setParcel(null);
    const msg: Record<string, unknown> = { transactionReference: "ORDER-8", payload: "scan" };
    const { error, sent } = await flow.run("node", msg);
    assert.equal(error?.code, "ERR_MEASURE_FAILED");
    assert.deepEqual(
      { outcome: error?.cause.outcome, retryable: error?.cause.retryable, surface: error?.cause.surface },
      { outcome: "failed", retryable: false, surface: "newer-device" },
    );
    assert.notEqual(error?.cause.errorCode, 0);
    assert.equal(sent.length, 0);
    assert.equal((msg["payload"] as Record<string, unknown>)["ok"], false);
    assert.equal(typeof msg["rawResponse"], "string");
    assert.equal(flow.lastStatus("node")?.text, "measurement failed");
  });

  it("gives a failed measurement to a second output when that is wanted", async () => {
    await start({ failures: "output" });
    sim.newer.setParcel(null);
    const failed = await flow.run("node", {});
    assert.equal(failed.error, undefined);
    assert.deepEqual(
      failed.sent.map(({ port }) => port),
      [1],
    );
    sim.newer.setParcel("cube");
    const good = await flow.run("node", {});
    assert.deepEqual(
      good.sent.map(({ port }) => port),
      [0],
    );
  });

  it("reads the earlier generation into the same shape, and keeps the given reference beside it", async () => {
    await start({}, { address: sim.earlier.origin, generation: "earlier" });
    const { sent } = await flow.run("node", { transactionReference: "ORDER-9" });
    const msg = sent[0]?.msg ?? {};
    const result = msg["payload"] as Record<string, unknown>;
    assert.equal(result["source"], "earlier-device");
    assert.equal(result["transactionReference"], null);
    assert.equal(typeof result["elapsedMs"], "number");
    assert.equal(result["weight"], null);
    assert.equal(msg["transactionReference"], "ORDER-9");
    assert.equal(sim.requestsTo("earlier")[0]?.query, "");
  });

  it("names Enable Local API and the generation where the device does not know the request", async () => {
    await start({}, { address: sim.earlier.origin });
    const { error } = await flow.run("node", {});
    assert.equal(error?.code, "ERR_NOT_FOUND");
    assert.equal(error?.cause.outcome, "refused");
    assert.match(error?.cause.hint ?? "", /Enable Local API.*generation/);
  });

  it("keeps fifty scans in order on one device, whichever config node they come through", async () => {
    flow = await TestFlow.start([
      { id: "a", type: "dimensioner-device", address: sim.newer.origin, queueLimit: 50 },
      { id: "b", type: "dimensioner-device", address: new URL(sim.newer.origin).host, queueLimit: 50 },
      { id: "node-a", z: "tab", type: "dimensioner-measure", device: "a" },
      { id: "node-b", z: "tab", type: "dimensioner-measure", device: "b" },
    ]);
    let inFlight = 0;
    let most = 0;
    sim.onRequest(() => (most = Math.max(most, ++inFlight)));
    sim.onSettled(() => inFlight--);
    const references = Array.from({ length: 50 }, (_, index) => `scan-${index}`);
    const ends = await Promise.all(
      references.map((transactionReference, index) =>
        flow.start(index % 2 === 0 ? "node-a" : "node-b", { transactionReference }),
      ),
    );
    assert.ok(ends.every(({ error }) => error === undefined));
    const arrived = sim.requests.map(({ query }) => new URLSearchParams(query).get("TransactionReference"));
    assert.deepEqual(arrived, references);
    assert.equal(most, 1);
  });

  it("refuses what the queue does not hold, and drops what has waited too long", async () => {
    await start({}, { queueLimit: 1, maxWait: 0.1 });
    const held = sim.faults.add({ surface: "newer", times: 0, fault: { kind: "delay", ms: 600_000 } });
    const arrived = sim.nextRequest();
    const first = flow.start("node", {});
    await arrived;
    const [second, third] = await Promise.all([flow.start("node", {}), flow.start("node", {})]);
    assert.equal(second.error?.code, "ERR_EXPIRED");
    assert.equal(third.error?.code, "ERR_QUEUE_FULL");
    assert.equal(third.error?.cause.outcome, "not-sent");
    sim.faults.remove(held);
    assert.equal((await first).error, undefined);
    assert.equal(sim.newer.actions.measures, 1);
  });

  it("tells a value that Node-RED cannot work out, and measures nothing", async () => {
    await start({ transactionReference: "$error('no such order')", transactionReferenceType: "jsonata" });
    const { error } = await flow.run("node", {});
    assert.equal(error?.code, "ERR_INPUT");
    assert.match(error?.message ?? "", /transactionReference/);
    assert.equal(sim.newer.actions.measures, 0);
  });

  it("never measures on the default dock when the message names an empty one", async () => {
    await start({ deviceFrom: "dock" });
    assert.equal((await flow.run("node", { dock: "" })).error?.code, "ERR_INPUT");
    assert.equal(sim.newer.actions.measures, 0);
  });
});
