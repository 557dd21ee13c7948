import assert from "node:assert/strict";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { connected, readExample, type FlowNode } from "../support/examples.ts";
import { nodeRedMajor, startNodeRed, type NodeRed } from "../support/node-red.ts";
import { watchCanvas } from "./canvas.ts";
import { Listener } from "./listener.ts";
import { freePort } from "../support/servers.ts";

describe("the examples that watch", () => {
  let simulator: Simulator;
  let nodeRed: NodeRed;
  let nodes: FlowNode[];
  let listener: Listener;
  let canvas: Awaited<ReturnType<typeof watchCanvas>>;

  const start = async (example: string, adapt: (node: FlowNode) => FlowNode): Promise<void> => {
    simulator = await startSimulator({ ports: { newer: await freePort() }, cloudDevices: 2 });
    nodeRed = await startNodeRed({ major: nodeRedMajor });
    const { newer, earlier, cloud } = simulator;
    const origins = { newer: newer.origin, earlier: earlier.origin, cloud: cloud.origin };
    nodes = connected(await readExample(example), origins).map(adapt);
    listener = new Listener();
    await listener.open(nodeRed.url, nodes);
    canvas = await watchCanvas(nodeRed);
    await nodeRed.deploy(nodes);
  };
  const press = async (name: string): Promise<void> => {
    const id = nodes.find((node) => node.name === name)?.id ?? name;
    assert.equal((await nodeRed.adminFetch(`/inject/${id}`, { method: "POST" })).status, 200);
  };

  /** Lets the flow look again and again. On a busy computer, others are silent for a second as well, and are heard again. */
  const lookUntil = async (isAwaited: (text: string) => boolean): Promise<void> => {
    for (;;) {
      await press("Once a minute");
      while (!listener.isQuiet) {
        if (isAwaited(await listener.next())) {
          return;
        }
      }
    }
  };

  afterEach(async () => {
    listener.close();
    canvas.close();
    await nodeRed.stop();
    await simulator.close();
  });

  it("21 fleet watch: news of every device at first, then of the one that falls silent and is heard again", async () => {
    // At the start it looks by itself; then when it is told to.
    await start("21", (node) =>
      node.type === "inject"
        ? { ...node, repeat: "" }
        : node.type === "tab"
          ? { ...node, env: [{ name: "SILENT_AFTER", value: "1", type: "num" }] }
          : node,
    );
    const first = [await listener.next(), await listener.next(), await listener.next()];
    const names = first.map((text) => text.replace(/^\w+: | \(.*/g, ""));
    assert.deepEqual(names.toSorted(), ["Dock 1", "Dock 2", "Simulated device"]);
    const news = new Map<string, string>();
    const hasNewsOfEach = (text: string): boolean => {
      if (text.startsWith("News: ")) {
        news.set(text.replace(/^\w+: | \(.*/g, ""), text);
      }
      return news.size === names.length;
    };
    // On a busy computer the first look may have found a device silent; then a later one hears it.
    if (!first.map(hasNewsOfEach).includes(true)) {
      await lookUntil(hasNewsOfEach);
    }
    const heard = /^News: Simulated device \(.+ 1\) is heard, version 4\.2\.0\.$/;
    assert.match(news.get("Simulated device") ?? "", heard);
    simulator.newer.setPower(false);
    await lookUntil((text) => /^Alarm: Simulated device \(.+\) has been silent for \d+ s\.$/.test(text));
    simulator.newer.setPower(true);
    await lookUntil((text) => heard.test(text));
    canvas.check();
  });

  it("22 heartbeat: one alarm when the device goes, one all clear when it is back, and no measurement", async () => {
    const shipped = (await readExample("22")).find(({ type }) => type === "dimensioner-device");
    assert.ok(
      Number(shipped?.["checkInterval"]) > 0,
      "the device of the example is checked as it is imported",
    );
    await start("22", (node) =>
      node.type === "dimensioner-device" ? { ...node, checkInterval: "1" } : node,
    );
    assert.equal(await listener.next(), "All clear: Dock 1 answers.");
    simulator.newer.setPower(false);
    assert.equal(await listener.next(), "Alarm: Dock 1 does not answer: no connection.");
    assert.equal(simulator.newer.actions.measures, 0);
    simulator.newer.setPower(true);
    assert.equal(await listener.next(), "All clear: Dock 1 answers.");
    await press("Measure a parcel");
    assert.match(await listener.next(), /^Result: /);
    assert.equal(simulator.newer.actions.measures, 1);
    canvas.check();
  });
});
