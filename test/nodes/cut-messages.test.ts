import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Node } from "node-red";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { withFolder } from "../media/support.ts";
import { TestFlow, type FlowNode } from "../support/flow.ts";
import { startServer } from "../support/servers.ts";
import { storeId, storeNode } from "../support/store-node.ts";
import { actionNodes, titleOf, type ActionNode } from "./action-nodes.ts";

const credentials = { cloud: { token: "simulator" } };
const catchNode: FlowNode = { id: "catch", z: "tab", type: "catch", scope: null, wires: [["out-0"]] };

interface Caught {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly source: { readonly id: string };
    readonly cause: { readonly outcome: string | null; readonly device?: string };
  };
  readonly topic?: string;
}

function configNodes(sim: Simulator): FlowNode[] {
  return [
    { id: "device", type: "dimensioner-device", name: "Dock 1", address: sim.newer.origin, timeout: 60 },
    { id: "cloud", type: "dimensioner-cloud", name: "Cloud", baseUrl: sim.cloud.origin, timeout: 60 },
  ];
}

function actionNode({ type, uses, properties }: ActionNode, more: object = {}): FlowNode {
  return { id: "node", z: "tab", type, [uses]: uses, ...properties, ...more };
}

/** What the node warns of from now on. */
function warningsOf(node: Node): string[] {
  const warned: string[] = [];
  node.warn = (text: unknown) => void warned.push(String(text));
  return warned;
}

/** What the Catch node has sent so far. */
function caughtIn(flow: TestFlow): Caught[] {
  return flow.sent.filter(({ nodeId }) => nodeId === "catch").map(({ msg }) => msg as unknown as Caught);
}

describe("a message that is at work when everything is deployed", () => {
  let sim: Simulator;
  let flow: TestFlow;

  beforeEach(async () => {
    sim = await startSimulator();
  });
  afterEach(async () => {
    await flow.stop();
    await sim.close();
  });

  for (const node of actionNodes) {
    describe(`in ${titleOf(node)}`, () => {
      let nodes: FlowNode[];
      /** Starts the flow, and a message of which the other end never answers. */
      const startOne = async (): Promise<{ readonly ended: Promise<unknown> }> => {
        nodes = [...configNodes(sim), actionNode(node), catchNode];
        flow = await TestFlow.start(nodes, credentials);
        const msg = { topic: "parcels", ...(await node.message(sim)) };
        const surface = node.uses === "device" ? "newer" : "cloud";
        const fault = { kind: "delay", ms: 600_000 } as const;
        sim.faults.add({ surface, path: node.path, times: 0, fault });
        const arrived = sim.nextRequest(({ path }) => path.startsWith(node.path));
        const ended = flow.start("node", msg);
        await arrived;
        return { ended };
      };

      it("is told to the new flow's Catch node with its outcome, once", async () => {
        await startOne();
        await flow.deploy(nodes, credentials);
        const { msg } = await flow.untilSent("catch", () => true);
        const { error, topic } = msg as unknown as Caught;
        assert.equal(error.code, "ERR_CANCELLED");
        assert.equal(error.cause.outcome, node.acts ? "unknown" : null);
        assert.equal(error.source.id, "node");
        assert.equal(topic, "parcels", "it is the message that was cut");
        assert.equal((await flow.untilStatus("node", ({ fill }) => fill === "red")).text, "cancelled");
        await flow.deploy(nodes, credentials);
        assert.equal(caughtIn(flow).length, 1);
      });

      it("is told to the Catch node once if it alone is deployed", async () => {
        const { ended } = await startOne();
        const changed = nodes.map((one) => (one.id === "node" ? { ...one, info: "changed" } : one));
        await flow.deploy(changed, credentials, "nodes");
        await ended;
        assert.deepEqual(
          caughtIn(flow).map(({ error }) => error.code),
          ["ERR_CANCELLED"],
        );
        await flow.deploy(nodes, credentials);
        assert.equal(caughtIn(flow).length, 1);
      });
    });
  }

  const measure = actionNodes.find(({ type }) => type === "dimensioner-measure") ?? assert.fail();
  const startMeasures = async (nodes: readonly FlowNode[], count = 1): Promise<void> => {
    flow = await TestFlow.start(nodes, credentials);
    const fault = { kind: "delay", ms: 600_000 } as const;
    sim.faults.add({ surface: "newer", path: measure.path, times: 0, fault });
    const arrived = sim.nextRequest(({ path }) => path.startsWith(measure.path));
    for (let number = 0; number < count; number++) {
      void flow.start("node", { transactionReference: `ORDER-${number}` });
    }
    await arrived;
  };

  it("is told with each outcome: one was sent, and those behind it were not", async () => {
    const nodes = [...configNodes(sim), actionNode(measure), catchNode];
    await startMeasures(nodes, 3);
    await flow.untilStatus("node", ({ text }) => text === "in queue: 2");
    await flow.deploy(nodes, credentials);
    await flow.untilSent("catch", ({ transactionReference }) => transactionReference === "ORDER-2");
    assert.deepEqual(
      caughtIn(flow).map(({ error }) => error.cause.outcome),
      ["unknown", "not-sent", "not-sent"],
    );
    assert.equal(sim.requestsTo("newer", measure.path).length, 1);
  });

  for (const type of ["full", "flows", "nodes"] as const) {
    it(`is told if it was still on its way to its node (${type})`, async () => {
      const targets = ["node", "scan", "archive"];
      const nodes = (info: string): FlowNode[] => [
        ...configNodes(sim),
        { id: "store", type: "dimensioner-store", name: "Evidence" },
        { id: "source", z: "tab", type: "helper", info, wires: [targets] },
        actionNode(measure, { info }),
        { id: "scan", z: "tab", type: "dimensioner-scan", info },
        { id: "archive", z: "tab", type: "dimensioner-archive", store: "store", media: "none", info },
        catchNode,
      ];
      flow = await TestFlow.start(nodes("before"), credentials);
      flow.node("source").send({ _msgid: "1", payload: "ORDER-1" });
      await flow.deploy(nodes("after"), credentials, type);
      for (const id of targets) {
        await flow.untilSent("catch", (msg) => (msg as unknown as Caught).error.source.id === id);
      }
      const outcomes = caughtIn(flow).map(({ error: { code, source, cause } }) => [
        source.id,
        code,
        cause.outcome,
      ]);
      assert.deepEqual(outcomes.toSorted(), [
        ["archive", "ERR_CANCELLED", null],
        ["node", "ERR_CANCELLED", "not-sent"],
        ["scan", "ERR_CANCELLED", null],
      ]);
      assert.equal(sim.requestsTo("newer", measure.path).length, 0);
    });
  }

  it("is told to a Catch node that comes with the deploy", async () => {
    const nodes = [...configNodes(sim), actionNode(measure)];
    await startMeasures(nodes);
    await flow.deploy([...nodes, catchNode], credentials);
    await flow.untilSent("catch", () => true);
  });

  it("is in the log, and told to no Catch node, where all of them would take too much memory", async () => {
    const nodes = [...configNodes(sim), actionNode(measure), catchNode];
    await startMeasures(nodes);
    const payload = Buffer.alloc(60_000_000);
    const large = ["LARGE-1", "LARGE-2"].map((transactionReference) =>
      flow.start("node", { transactionReference, payload }),
    );
    await flow.untilStatus("node", ({ text }) => text === "in queue: 2");
    const warned = warningsOf(flow.node("node"));
    await flow.deploy(nodes, credentials);
    await Promise.all(large);
    await flow.untilSent("catch", ({ transactionReference }) => transactionReference === "LARGE-1");
    assert.equal(caughtIn(flow).length, 2);
    assert.match(warned.join(), /^Too many messages were cancelled at once, or they are too large/);
  });

  for (const type of ["nodes", "flows"] as const) {
    it(`is told once if the Catch node, or what is behind it, is deployed with it (${type})`, async () => {
      const nodes = (info: string): FlowNode[] => [
        ...configNodes(sim),
        actionNode(measure, { info }),
        { ...catchNode, scope: ["node"], wires: [["behind"]] },
        { id: "behind", z: "tab", type: "dimensioner-scan", info },
      ];
      await startMeasures(nodes("before"));
      await flow.deploy(nodes("after"), credentials, type);
      await flow.untilError("behind");
      assert.equal(flow.ends.filter(({ nodeId }) => nodeId === "behind").length, 1);
      assert.equal(caughtIn(flow).length, 1);
    });
  }

  describe("with a store", () => {
    const store: FlowNode = { id: "store", type: "dimensioner-store", name: "Evidence" };
    const nodes = (): FlowNode[] => [...configNodes(sim), store, actionNode(measure), catchNode];
    const rows = (): unknown[] =>
      flow.rowsOf(
        "store",
        "SELECT operation, device, node_id, sent_at < '3' AS is_date, message FROM commands",
      );

    it("is in the store before it is sent, and until it was told", async () => {
      await startMeasures(nodes());
      const [row] = rows() as { message: string }[];
      assert.equal(rows().length, 1);
      const { message, ...facts } = row ?? assert.fail();
      assert.deepEqual({ ...facts }, { operation: "measure", device: "Dock 1", node_id: "node", is_date: 1 });
      assert.equal(JSON.parse(message).transactionReference, "ORDER-0");
      await flow.deploy(nodes(), credentials);
      await flow.untilSent("catch", () => true);
      while (rows().length > 0) {
        await nextTurn();
      }
      assert.equal(caughtIn(flow).length, 1);
    });

    it("is kept in none if there are two", async () => {
      await startMeasures([...nodes(), { ...store, id: "second" }]);
      assert.throws(rows, /unable to open/);
      await flow.deploy(nodes(), credentials);
      await flow.untilSent("catch", () => true);
    });

    it("measures all the same while the database cannot be used, and says so once", async () => {
      await withFolder(async (folder) => {
        await writeFile(join(folder, "dimensioner"), "not a folder");
        flow = await TestFlow.start(nodes(), credentials, { userDir: folder });
        const warned = warningsOf(flow.node("node"));
        for (const transactionReference of ["ORDER-1", "ORDER-2"]) {
          const { error, sent } = await flow.run("node", { transactionReference });
          assert.deepEqual([error, sent.length], [undefined, 1]);
        }
        assert.equal(warned.length, 1);
        assert.match(warned[0] ?? "", /^The store does not respond in time.*dimensioner/);
      });
    });
  });

  it("in a subflow is told by the node there", async () => {
    const place = { id: "instance", z: "tab", type: "subflow:sub", x: 1, y: 1, wires: [] };
    const inner = { ...actionNode(measure), z: "sub" };
    const nodes = [
      ...configNodes(sim),
      { id: "sub", type: "subflow", name: "sub", in: [], out: [] },
      inner,
      place,
      catchNode,
    ];
    flow = await TestFlow.start(nodes, credentials);
    const fault = { kind: "delay", ms: 600_000 } as const;
    sim.faults.add({ surface: "newer", path: measure.path, times: 0, fault });
    const arrived = sim.nextRequest(({ path }) => path.startsWith(measure.path));
    void flow.start("instance-node", { transactionReference: "ORDER-1" });
    await arrived;
    await flow.deploy(nodes, credentials);
    const { msg } = await flow.untilSent("catch", () => true);
    assert.equal((msg as unknown as Caught).error.source.id, "instance-node");
  });

  it("in an evidence node is told", async () => {
    const hung = await startServer(() => undefined);
    try {
      await withFolder(async (folder) => {
        const store = storeId(folder);
        const archive = { type: "dimensioner-archive", store, media: "none", layout: "{transactionId}" };
        const evidence = { type: "dimensioner-evidence", store, action: "timestamp", by: "all" };
        const nodes = [
          storeNode(folder),
          { id: "archive", z: "tab", ...archive },
          { id: "node", z: "tab", ...evidence, server: `${hung.origin}/tsa`, timestampTimeout: 600 },
          catchNode,
        ];
        flow = await TestFlow.start(nodes, credentials);
        const payload = Buffer.from("ffd8ffe000104a46494600ffd9", "hex");
        await flow.run("archive", { transactionId: "1", payload, contentType: "image/jpeg" });
        const arrived = hung.next();
        const ended = flow.start("node", { topic: "evidence" });
        await arrived;

        await flow.deploy(nodes, credentials);
        assert.equal((await ended).error?.code, "ERR_CANCELLED");
        const { msg } = await flow.untilSent("catch", () => true);
        assert.equal((msg as unknown as Caught).error.source.id, "node");
      });
    } finally {
      await hung.close();
    }
  });
});
