import assert from "node:assert/strict";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { TestFlow, type FlowNode, type Message } from "../support/flow.ts";
import { actionNodes, titleOf, type ActionNode } from "./action-nodes.ts";

const token = "simulator";
const credentials = { cloud: { token }, "cloud-2": { token } };

function configNodes(sim: Simulator): FlowNode[] {
  return [
    { id: "device", type: "dimensioner-device", name: "Dock 1", address: sim.newer.origin, timeout: 60 },
    { id: "device-2", type: "dimensioner-device", name: "Dock 2", address: sim.newer.origin, timeout: "60" },
    { id: "cloud", type: "dimensioner-cloud", name: "Dock 1", baseUrl: sim.cloud.origin, timeout: 60 },
    { id: "cloud-2", type: "dimensioner-cloud", name: "Dock 2", baseUrl: sim.cloud.origin, timeout: 60 },
  ];
}

function actionNode(node: ActionNode, more: Record<string, unknown> = {}): FlowNode {
  return { id: "node", z: "tab", type: node.type, [node.uses]: node.uses, ...node.properties, ...more };
}

/** How people call the machine that the node works with: behind the cloud, by the name with which it is registered there. */
function deviceOf({ type }: ActionNode, { cloud }: Simulator): string | undefined {
  return type === "dimensioner-remote-trigger" ? cloud.devices[0]?.name : "Dock 1";
}

/** A message with things on it that no node owns. */
function laden(msg: Message): Message {
  return { topic: "parcels", order: { lines: [1, 2, 3] }, req: { headers: {} }, ...msg };
}

function without(msg: Message, properties: readonly string[]): Message {
  return Object.fromEntries(Object.entries(msg).filter(([name]) => !properties.includes(name)));
}

/** Each message that any node got has ended once: in outputs or in an error, never in both. */
function assertEachEndedOnce(flow: TestFlow): void {
  const ends = flow.ends.filter((end) => !end.nodeId.startsWith("out-"));
  const ids = ends.map((end) => end.msgId);
  assert.deepEqual([...new Set(ids)], ids, "a message ended twice");
  for (const { msgId, error } of ends) {
    const sent = flow.sent.filter((one) => one.msg["_msgid"] === msgId && one.nodeId === "node");
    assert.ok(error === undefined || sent.length === 0, "a message ended in an error and in an output");
  }
}

for (const node of actionNodes) {
  describe(`contract of ${titleOf(node)}`, () => {
    let sim: Simulator;
    let flow: TestFlow;
    const start = async (more: Record<string, unknown> = {}, nodes = configNodes(sim)): Promise<void> => {
      flow = await TestFlow.start([...nodes, actionNode(node, more)], credentials);
    };
    const requests = (): number =>
      sim.requestsTo(node.uses === "device" ? "newer" : "cloud", node.path).length;

    beforeEach(async () => {
      sim = await startSimulator();
    });

    afterEach(async () => {
      assertEachEndedOnce(flow);
      for (const { text } of flow.shown) {
        assert.ok(text.length < 32, `status too long: ${text}`);
      }
      await flow.stop();
      await sim.close();
    });

    it("ends in one output, leaves what it does not own, and shows that it worked", async () => {
      await start();
      const given = laden(await node.message(sim));
      const before = structuredClone(given);
      const { error, sent } = await flow.run("node", given);
      assert.equal(error, undefined);
      assert.equal(sent.length, 1);
      const [only] = sent;
      assert.equal(only?.port, 0);
      assert.deepEqual(without(only?.msg ?? {}, [...node.owns, "_msgid"]), without(before, node.owns));
      for (const property of node.owns) {
        assert.ok(property in (only?.msg ?? {}), `msg.${property} is not set`);
      }
      assert.equal(requests(), 1);
      const looks = flow.shown.map(({ fill, shape }) => `${fill} ${shape}`);
      assert.equal(looks[0], "blue dot");
      assert.equal(looks.at(-1), "green dot");
    });

    it("says at deploy that its config node is missing, and fails each message without a request", async () => {
      await start({ [node.uses]: "gone" });
      assert.deepEqual(flow.lastStatus("node"), {
        nodeId: "node",
        fill: "red",
        shape: "ring",
        text: "config node missing",
      });
      const { error, sent } = await flow.run("node", await node.message(sim));
      assert.equal(error?.code, "ERR_CONFIG");
      assert.equal(error?.cause.outcome, node.acts ? "not-sent" : null);
      assert.equal(sent.length, 0);
      assert.equal(requests(), 0);
    });

    it("says at deploy that its config node is invalid", async () => {
      const invalid = configNodes(sim).map((one) => ({ ...one, timeout: "soon" }));
      await start({}, invalid);
      assert.equal(flow.lastStatus("node")?.text, "config node invalid");
      const { error } = await flow.run("node", await node.message(sim));
      assert.equal(error?.code, "ERR_CONFIG");
      assert.match(error?.message ?? "", /timeout.*number/);
      assert.equal(error?.cause.device, "Dock 1");
      assert.equal(requests(), 0);
    });

    it("shows nothing of what was wrong once a deploy has corrected it", async () => {
      await start({ [node.uses]: "gone" });
      await flow.deploy([...configNodes(sim), actionNode(node)], credentials, "nodes");
      assert.equal(flow.lastStatus("node"), undefined);
    });

    it("lets a message choose among what is deployed, and nothing else", async () => {
      await start({ [node.uses]: "", [`${node.uses}From`]: "dock.name" });
      assert.equal(flow.lastStatus("node"), undefined, "a blank config node is no complaint here");
      const good = await node.message(sim);
      const chosen = await flow.run("node", { ...good, dock: { name: "Dock 2" } });
      assert.equal(chosen.error, undefined);
      assert.equal(requests(), 1);
      for (const name of ["", null, 2, ["Dock 1"], "Dock 3", "device", sim.newer.origin]) {
        const { error } = await flow.run("node", { ...good, dock: { name } });
        assert.equal(error?.code, "ERR_INPUT", `dock ${JSON.stringify(name)}`);
        assert.equal(error?.cause.retryable, false);
        assert.equal(error?.cause.device, undefined, "none was chosen");
      }
      const absent = await flow.run("node", { ...good });
      assert.equal(absent.error?.code, "ERR_CONFIG");
      assert.equal(requests(), 1);
    });

    it("refuses a name that two config nodes have", async () => {
      await start(
        { [`${node.uses}From`]: "dock" },
        configNodes(sim).map((one) => ({ ...one, name: "Dock" })),
      );
      const good = await node.message(sim);
      assert.equal((await flow.run("node", { ...good, dock: "Dock" })).error?.code, "ERR_INPUT");
      assert.equal((await flow.run("node", { ...good })).error, undefined, "the node's own is still clear");
    });

    it("passes a lost connection on as one error, and leaves the message as it was", async () => {
      await start();
      const good = laden(await node.message(sim));
      const surface = node.uses === "device" ? "newer" : "cloud";
      sim.faults.add({ surface, path: node.path, times: 0, fault: { kind: "reset" } });
      const before = structuredClone(good);
      const { error, sent } = await flow.run("node", good);
      assert.equal(error?.code, "ERR_CONNECTION_LOST");
      assert.equal(error?.cause.device, deviceOf(node, sim), "its error says which device");
      assert.equal(error?.cause.outcome, node.acts ? "unknown" : null);
      assert.equal(String(error), error?.message);
      assert.ok(Object.hasOwn(error ?? {}, "code") && Object.hasOwn(error ?? {}, "cause"));
      assert.equal(sent.length, 0);
      assert.deepEqual(without(good, ["_msgid"]), before);
      assert.equal(requests(), node.acts ? 1 : 3);
      assert.equal(flow.lastStatus("node")?.fill, "red");
    });

    const endings: Readonly<Record<string, () => Promise<void>>> = {
      "when the flow is taken away": () => flow.deploy([]),
      "when it alone is deployed anew": () =>
        flow.deploy([...configNodes(sim), actionNode(node, { info: "changed" })], credentials, "nodes"),
    };
    for (const [when, go] of Object.entries(endings)) {
      it(`ends what runs ${when}, and sends nothing afterwards`, async () => {
        await start();
        const good = await node.message(sim);
        const surface = node.uses === "device" ? "newer" : "cloud";
        const held = sim.faults.add({
          surface,
          path: node.path,
          times: 0,
          fault: { kind: "delay", ms: 600_000 },
        });
        const arrived = sim.nextRequest(({ path }) => path.startsWith(node.path));
        const ended = flow.start("node", good);
        const request = await arrived;
        await go();
        const { error } = await ended;
        sim.faults.remove(held);
        await sim.settled(request);
        assert.equal(error?.code, "ERR_CANCELLED");
        assert.equal(error?.cause.outcome, node.acts ? "unknown" : null);
        assert.equal(flow.sent.length, 0);
        assert.equal(requests(), 1);
      });
    }

    it("takes msg.reset as no work of its own", async () => {
      await start();
      const { error, sent } = await flow.run("node", { ...(await node.message(sim)), reset: true });
      assert.equal(error, undefined);
      assert.equal(sent.length, 0);
      assert.equal(requests(), 0);
    });

    if (node.acts) {
      it("drops what waits, and only that, on msg.reset", async () => {
        await start();
        const good = await node.message(sim);
        const surface = node.uses === "device" ? "newer" : "cloud";
        const held = sim.faults.add({
          surface,
          path: node.path,
          times: 0,
          fault: { kind: "delay", ms: 600_000 },
        });
        const arrived = sim.nextRequest(({ path }) => path.startsWith(node.path));
        const first = flow.start("node", { ...good });
        await arrived;
        const second = flow.start("node", { ...good });
        await flow.untilStatus(
          "node",
          ({ fill, shape, text }) => `${fill} ${shape} ${text}` === "yellow ring in queue: 1",
        );
        await flow.run("node", { reset: true });
        const dropped = await second;
        assert.equal(dropped.error?.code, "ERR_CANCELLED");
        assert.equal(dropped.error?.cause.outcome, "not-sent");
        assert.equal(dropped.error?.cause.retryable, true);
        sim.faults.remove(held);
        assert.equal((await first).error, undefined);
        assert.equal(requests(), 1);
      });
    }

    const { required, query } = node;
    if (required !== undefined) {
      it(`does nothing without ${required}, or with one that cannot be`, async () => {
        await start({ [required]: "given.value", [`${required}Type`]: "msg" });
        const good = without(await node.message(sim), [required]);
        const before = sim.requests.length;
        const values = [
          undefined,
          null,
          "",
          {},
          [],
          "..",
          "../measure",
          "..%2fmeasure",
          "a/b",
          "a\\b",
          "\u0000",
          Number.NaN,
        ];
        for (const value of values) {
          const { error } = await flow.run("node", { ...good, given: { value } });
          assert.equal(error?.code, "ERR_INPUT", `${required} ${JSON.stringify(value)}`);
          assert.equal(error?.cause.outcome, node.acts ? "not-sent" : null);
        }
        assert.equal((await flow.run("node", good)).error?.code, "ERR_INPUT");
        assert.equal(sim.requests.length, before);
      });
    }

    if (query !== undefined) {
      const [field, name] = query;
      const text = "ä b&c=d#e\r\n😀";
      const sources = [
        { type: "msg", value: "a.b", msg: { a: { b: text } }, arrives: text },
        { type: "str", value: text, msg: {}, arrives: text },
        { type: "jsonata", value: "$uppercase(word)", msg: { word: "abc" }, arrives: "ABC" },
        { type: "env", value: "DIMENSIONER_TEST_VALUE", msg: {}, arrives: "from env" },
        { type: "flow", value: "kept", msg: {}, arrives: "from flow" },
        { type: "global", value: "kept", msg: {}, arrives: "from global" },
        { type: "msg", value: "n", msg: { n: 12.5 }, arrives: "12.5" },
        { type: "msg", value: "n", msg: { n: { not: "text" } }, arrives: null },
        { type: "msg", value: "missing.deep", msg: {}, arrives: null },
        { type: "msg", value: "n", msg: { n: "" }, arrives: null },
      ];
      for (const { type, value, msg, arrives } of sources) {
        it(`takes ${field} from ${type} ${JSON.stringify(value)}: ${JSON.stringify(msg)}`, async () => {
          process.env["DIMENSIONER_TEST_VALUE"] = "from env";
          await start({ [field]: value, [`${field}Type`]: type });
          flow.node("node").context().flow.set("kept", "from flow");
          flow.node("node").context().global.set("kept", "from global");
          const { error } = await flow.run("node", { ...(await node.message(sim)), ...msg });
          assert.equal(error, undefined);
          const [request] = sim.requestsTo(node.uses === "device" ? "newer" : "cloud", node.path);
          assert.equal(new URLSearchParams(request?.query).get(name), arrives);
        });
      }

      it(`says what is wrong with an expression for ${field}`, async () => {
        await start({ [field]: "$substring(", [`${field}Type`]: "jsonata" });
        const { error } = await flow.run("node", await node.message(sim));
        assert.equal(error?.code, "ERR_INPUT");
        assert.equal(requests(), 0);
      });
    }
  });
}
