import assert from "node:assert/strict";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { TestFlow, type FlowNode, type Shown } from "../support/flow.ts";
import { freePort, reply, saysRefused, startServer } from "../support/servers.ts";

describe("the health of config nodes", () => {
  let sim: Simulator;
  let flow: TestFlow;
  let logs: string[];

  const device = (more: object = {}): FlowNode => ({
    id: "device",
    type: "dimensioner-device",
    name: "Dock 1",
    address: sim.newer.origin,
    timeout: 60,
    checkInterval: 1,
    ...more,
  });
  const measure = (id: string, more: object = {}): FlowNode => ({
    id,
    z: "tab",
    type: "dimensioner-measure",
    device: "device",
    ...more,
  });
  const statusNode: FlowNode = { id: "status", z: "tab", type: "status", scope: null, wires: [["out-0"]] };
  const start = async (nodes: readonly FlowNode[], credentials: object = {}): Promise<void> => {
    flow = await TestFlow.start([...nodes, statusNode], credentials);
    logs = [];
    for (const { id } of nodes) {
      const node = flow.node(id);
      if (node !== null) {
        node.warn = (text: string) => void logs.push(`warn ${id} ${text}`);
        node.log = (text: string) => void logs.push(`log ${id} ${text}`);
      }
    }
  };
  const looks = (id: string): string[] =>
    flow.shown
      .filter(({ nodeId }) => nodeId === id)
      .map(({ fill, shape, text }) => `${fill} ${shape} ${text}`);
  /** What the Status node on the tab heard. */
  const told = (): { source: string; text: string }[] =>
    flow.sent
      .filter(({ nodeId }) => nodeId === "status")
      .map(({ msg }) => msg["status"] as { text: string; source: { name: string } })
      .map(({ text, source }) => ({ source: source.name, text }));
  const nextStatus = (id: string, fits: (shown: Shown) => boolean): Promise<Shown> => {
    flow.shown.splice(0);
    return flow.untilStatus(id, fits);
  };
  const isGreen = ({ fill }: Shown): boolean => fill === "green";

  beforeEach(async () => {
    // While it is switched off, no other process gets a port that the system does not give away.
    sim = await startSimulator({ ports: { newer: await freePort() } });
  });
  afterEach(async () => {
    await flow.stop();
    await sim.close();
  });

  it("does not ping a device that no enabled node uses", async () => {
    const other = await startSimulator();
    try {
      const unused = { ...device(), id: "unused", address: other.newer.origin };
      await start([device(), unused, measure("one"), measure("off", { device: "unused", d: true })]);
      // The second check of one device comes later than the first one of any other would.
      while (sim.requests.length < 2) {
        await sim.nextRequest();
      }
      assert.deepEqual([other.requests.length, looks("unused")], [0, []]);
    } finally {
      await other.close();
    }
  });

  it("tells Status nodes how far the clock of the device is from this computer's, and again if that changes", async () => {
    await start([device(), measure("one")]);
    const ahead = () =>
      flow.sent
        .filter(({ nodeId }) => nodeId === "status")
        .map(({ msg }) => msg["status"] as { clockAhead?: number; source: { name: string } })
        .filter(({ source }) => source.name === "Dock 1")
        .map(({ clockAhead = NaN }) => Math.round(clockAhead / 60));
    await flow.untilStatus("device", isGreen);
    const date = new Date(Date.now() + 3_600_000).toUTCString();
    sim.faults.add({ surface: "newer", times: 0, fault: { kind: "headers", set: { Date: date } } });
    await nextStatus("device", isGreen);
    assert.deepEqual(ahead(), [0, 60]);
  });

  it("goes from down to up without a deploy, with one log line each way, and never measures", async () => {
    sim.newer.setPower(false);
    await start([device(), measure("one"), measure("two")]);
    await flow.untilStatus("device", ({ fill }) => fill === "red");
    // Long enough for another check, of which nothing is to be seen.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    sim.newer.setPower(true);
    await flow.untilStatus("device", isGreen);
    const expected = ["red ring no connection", "green dot reachable"];
    for (const id of ["device", "one", "two"]) {
      assert.deepEqual(looks(id), expected, id);
    }
    assert.equal(logs.length, 2, logs.join("\n"));
    const said = new RegExp(`^warn device No connection to 127\\.0\\.0\\.1:\\d+: ${saysRefused}`);
    assert.match(logs[0] ?? "", said);
    assert.equal(logs[1], "log device reachable");
    await new Promise((resolve) => setImmediate(resolve));
    // Node-RED tells a Status node once for each user.
    assert.deepEqual(told(), [
      { source: "Dock 1", text: "no connection" },
      { source: "Dock 1", text: "no connection" },
      { source: "Dock 1", text: "reachable" },
      { source: "Dock 1", text: "reachable" },
    ]);
    assert.equal(sim.newer.actions.measures, 0);
    assert.ok(sim.requests.every(({ path }) => path.startsWith("/api/v1/ping/")));
  });

  it("takes no other server for a device, whatever it answers", async () => {
    for (const body of ['{"hello":"world"}', '{"msg":"ping"}', '{"msg":null}']) {
      const stranger = await startServer((_request, socket) => reply(socket, { body }));
      try {
        await start([device({ address: stranger.origin }), measure("one")]);
        await flow.untilStatus("one", ({ fill, text }) => fill === "red" && text === "response not usable");
      } finally {
        await flow.stop();
        await stranger.close();
      }
    }
    await start([device({ address: sim.earlier.origin, generation: "earlier" }), measure("one")]);
    await flow.untilStatus("device", isGreen);
  });

  it("covers no result, and says nothing when all is well again and again", async () => {
    await start([device(), measure("one"), measure("two")]);
    await flow.untilStatus("one", isGreen);
    await flow.run("one", {});
    const result = flow.lastStatus("one")?.text;
    assert.match(result ?? "", /33\.5/);
    sim.newer.setPower(false);
    await flow.untilStatus("two", ({ fill }) => fill === "red");
    assert.equal(flow.lastStatus("one")?.text, result);
    const { error } = await flow.run("two", {});
    assert.equal(error?.code, "ERR_UNREACHABLE");
    sim.newer.setPower(true);
    await nextStatus("device", isGreen);
    assert.equal(flow.shown.filter(({ nodeId }) => nodeId !== "device").length, 0);
    assert.deepEqual(
      logs.map((line) => line.slice(0, 12)),
      ["warn device ", "log device r"],
    );
  });

  it("pings beside the commands: it waits for none and takes nobody's place in the queue", async () => {
    await start([device({ queueLimit: 0 }), measure("one")]);
    await flow.untilStatus("one", isGreen);
    const delay = { kind: "delay", ms: 600_000 } as const;
    const held = sim.faults.add({ surface: "newer", path: "/api/v1/measure", times: 0, fault: delay });
    const measuring = flow.start("one", {});
    const seen = sim.requestsTo("newer", "/api/v1/ping").length;
    while (sim.requestsTo("newer", "/api/v1/ping").length === seen) {
      await sim.nextRequest();
    }
    sim.faults.remove(held);
    assert.equal((await measuring).error, undefined);
    assert.equal((await flow.run("one", {})).error, undefined);
  });

  it("checks a cloud by its list of devices, and says when the token is refused", async () => {
    const nodes: FlowNode[] = [
      { id: "cloud", type: "dimensioner-cloud", baseUrl: sim.cloud.origin, checkInterval: "1" },
      { id: "list", z: "tab", type: "dimensioner-media-list", cloud: "cloud" },
    ];
    await start(nodes, { cloud: { token: "wrong" } });
    await flow.untilStatus("list", ({ fill, text }) => fill === "red" && text === "token rejected");
    await flow.deploy([...nodes, statusNode], { cloud: { token: sim.cloud.token } });
    await flow.untilStatus("list", ({ fill, text }) => fill === "green" && text === "reachable");
    assert.ok(sim.requests.every(({ path }) => path === "/api/deviceclients"));
  });

  it("asks nothing where it is off, and ends with the deploy that switches it off", async () => {
    await start([device(), measure("one")]);
    await flow.untilStatus("one", isGreen);
    await flow.deploy([device({ checkInterval: 0 }), measure("one"), statusNode]);
    const before = sim.requests.length;
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    assert.equal(sim.requests.length, before);
  });

  it("shows its state to nodes of a later deploy that leaves the config node alone", async () => {
    await start([device(), measure("one")]);
    await flow.untilStatus("one", isGreen);
    const runtime = flow.node("device");
    await flow.deploy([device(), measure("one"), measure("new"), statusNode], {}, "nodes");
    assert.equal(flow.node("device"), runtime);
    await flow.untilStatus("new", isGreen);
  });

  it("reaches Status nodes outside where the device is used inside a subflow", async () => {
    await start([
      { id: "sub", type: "subflow", name: "dock", in: [], out: [] },
      measure("inner", { z: "sub", wires: [] }),
      { id: "instance", z: "tab", type: "subflow:sub" },
      device(),
    ]);
    await flow.untilStatus("device", isGreen);
    await flow.untilStatus("instance", isGreen);
    assert.deepEqual(told(), [{ source: "Dock 1", text: "reachable" }]);
  });

  it("takes an interval that is no number for a mistake in the config node", async () => {
    await start([device({ checkInterval: "often" }), measure("one")]);
    assert.equal(flow.lastStatus("one")?.text, "config node invalid");
    const { error } = await flow.run("one", {});
    assert.match(error?.message ?? "", /“checkInterval”/);
  });

  it("leaves no timer, listener or connection after fifty deploys", async () => {
    await start([device(), measure("one")]);
    const { events } = flow;
    const before = ["flows:started", "node-status"].map((name) => events.listenerCount(name));
    for (let round = 0; round < 50; round++) {
      await flow.deploy([device({ name: `Dock ${round}` }), measure("one"), statusNode]);
    }
    assert.deepEqual(
      ["flows:started", "node-status"].map((name) => events.listenerCount(name)),
      before,
    );
    await flow.deploy([]);
    assert.deepEqual(
      ["flows:started", "node-status"].map((name) => events.listenerCount(name)),
      before.map((count) => count - 1),
    );
    while (sim.newer.connections > 0) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  });
});
