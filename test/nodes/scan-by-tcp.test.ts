import assert from "node:assert/strict";
import { connect } from "node:net";
import { startSimulator, type ScannerOptions, type Simulator } from "../../src/simulator/index.ts";
import { holdUp } from "../support/hold-up.ts";
import { freePort } from "../support/servers.ts";
import { TestFlow, type FlowNode } from "../support/flow.ts";

const sscc = "395212340000004173";

/** The simulator's scanner, Node-RED's own tcp in node, and the scan node behind it. */
describe("dimensioner-scan behind a scanner on the network", () => {
  let sim: Simulator;
  let flow: TestFlow;
  afterEach(async () => {
    await flow.stop();
    await sim.close();
  });

  async function start(
    tcpIn: object,
    scanner: Partial<ScannerOptions>,
    settings: object = {},
  ): Promise<void> {
    sim = await startSimulator({ scanner });
    const tcp = { datamode: "stream", datatype: "buffer", newline: "", topic: "", trim: false, tls: "" };
    const receiver = { id: "tcp", z: "tab", type: "tcp in", ...tcp, ...tcpIn, wires: [["node"]] };
    const own = "server" in tcpIn && tcpIn.server === "client" ? { port: String(sim.scanner.port) } : {};
    const scan: FlowNode = {
      id: "node",
      z: "tab",
      type: "dimensioner-scan",
      controls: "VIDEO_START",
      ...settings,
    };
    flow = await TestFlow.start([{ ...receiver, ...own }, scan]);
    while (sim.scanner.connections === 0) {
      await sim.nextEvent(({ type }) => type === "state");
    }
  }

  /** What the scan node sends of the next scan, once everything that the scanner has sent is dealt with. */
  async function references(scans: () => Promise<unknown>, end: string): Promise<unknown[]> {
    const before = flow.sent.length;
    await scans();
    await sim.scanner.scan({ code: end });
    await flow.untilSent("node", (msg) => msg["transactionReference"] === end);
    const sent = flow.sent.slice(before).filter(({ nodeId }) => nodeId === "node");
    return sent.map(({ port, msg }) => (port === 0 ? msg["transactionReference"] : msg["control"]));
  }

  it("gets each scan once, from a scanner that sends bytes a few at a time and repeats itself", async () => {
    const slow = { chunkBytes: 3, chunkMs: 1, repeats: 3, repeatMs: 2, suffix: "\r" };
    // On a busy computer, pauses within a scan and between repeats are longer than those of any scanner.
    const patient = { gap: 60_000, dedupe: 60_000 };
    await start({ server: "client", host: "127.0.0.1" }, slow, patient);
    const scans = async () => {
      await sim.scanner.scan();
      sim.newer.setParcel("cube");
      await sim.scanner.scan({ symbology: "gs1-datamatrix" });
      await sim.scanner.scan({ code: "VIDEO_START" });
      await sim.scanner.scan({ noRead: true });
    };
    assert.deepEqual(await references(scans, "END"), [
      sscc,
      "395212340000005323",
      "VIDEO_START",
      "NO_READ",
      "END",
    ]);
    const [, second] = flow.sent.filter(({ nodeId, port }) => nodeId === "node" && port === 0);
    const { labelWeight, labelDims } = second?.msg["scan"] as Record<string, unknown>;
    assert.deepEqual(labelWeight, { weight: 1.86, unit: "kg" });
    assert.deepEqual(labelDims, { length: 20, width: 20, height: 20, unit: "cm" });
  });

  it("takes up again when a scanner that was lost within a scan connects again", async () => {
    const port = await freePort();
    const framed = { prefix: "\x02", suffix: "\x03", connectTo: { host: "127.0.0.1", port } };
    await start({ server: "server", port: String(port) }, framed);
    assert.deepEqual(await references(() => sim.scanner.scan(), "BEFORE"), [sscc, "BEFORE"]);
    await sim.scanner.scan({ cutAtByte: 9, symbology: "gs1-datamatrix" });
    assert.equal((await flow.untilError("node")).code, "ERR_INPUT");
    while (sim.scanner.connections === 0) {
      await sim.nextEvent(({ type }) => type === "state");
    }
    sim.newer.setParcel("cube");
    assert.deepEqual(await references(() => sim.scanner.scan(), "AFTER"), ["395212340000005323", "AFTER"]);
  });

  it("puts a scan together whose rest came in time, but to a process that was held up", async () => {
    const port = await freePort();
    const connectTo = { host: "127.0.0.1", port };
    await start({ server: "server", port: String(port) }, { connectTo }, { gap: 300 });
    const socket = connect(connectTo);
    socket.write(sscc.slice(0, 9));
    // The gap has just begun.
    await flow.untilStatus("node", ({ text }) => text === "receiving a scan");
    socket.write(`${sscc.slice(9)}\r`);
    holdUp(500);
    const { msg } = await flow.untilSent("node", () => true);
    socket.destroy();
    assert.equal(msg["transactionReference"], sscc);
  });
});
