import assert from "node:assert/strict";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { TestFlow, type FlowNode } from "../support/flow.ts";

describe("config nodes by name", () => {
  let sim: Simulator;
  let flow: TestFlow;

  beforeEach(async () => {
    sim = await startSimulator({ measureMs: 0 });
  });
  afterEach(async () => {
    await flow.stop();
    await sim.close();
  });

  const dock = (id: string, name: string): FlowNode => ({
    id,
    type: "dimensioner-device",
    name,
    address: sim.newer.origin,
  });
  const measure: FlowNode = { id: "node", z: "tab", type: "dimensioner-measure", deviceFrom: "dock" };
  const codeFor = async (name: string): Promise<string | undefined> =>
    (await flow.run("node", { dock: name })).error?.code;

  it("follow every deploy of the config nodes alone: new, renamed, doubled and gone", async () => {
    flow = await TestFlow.start([measure, dock("a", "Dock 1")]);
    assert.equal(await codeFor("Dock 1"), undefined);
    assert.equal(await codeFor("Dock 2"), "ERR_INPUT");

    await flow.deploy([measure, dock("a", "Dock 1"), dock("b", "Dock 2")], {}, "nodes");
    assert.equal(await codeFor("Dock 2"), undefined);

    await flow.deploy([measure, dock("a", "Dock 3"), dock("b", "Dock 2")], {}, "nodes");
    assert.equal(await codeFor("Dock 1"), "ERR_INPUT");
    assert.equal(await codeFor("Dock 3"), undefined);

    await flow.deploy([measure, dock("a", "Dock 2"), dock("b", "Dock 2")], {}, "nodes");
    assert.equal(await codeFor("Dock 2"), "ERR_INPUT");

    await flow.deploy([measure, dock("b", "Dock 2")], {}, "nodes");
    assert.equal(await codeFor("Dock 2"), undefined);

    await flow.deploy([measure], {}, "nodes");
    assert.equal(await codeFor("Dock 2"), "ERR_INPUT");
  });

  it("are not found while a deploy replaces them, and nothing else happens", async () => {
    flow = await TestFlow.start([measure, dock("a", "Dock 1")]);
    const held = Promise.withResolvers<void>();
    const closing = new Promise<void>((resolve) => {
      flow.node("a").on("close", (done: () => void) => {
        resolve();
        void held.promise.then(done);
      });
    });
    const replaced = flow.deploy([measure, dock("a", "Dock 2")], {}, "nodes");
    await closing;
    const code = await codeFor("Dock 1");
    held.resolve();
    await replaced;
    assert.equal(code, "ERR_INPUT");
    assert.equal(await codeFor("Dock 2"), undefined);
  });
});
