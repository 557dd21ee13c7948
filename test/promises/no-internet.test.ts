import assert from "node:assert/strict";
import { createHook } from "node:async_hooks";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { Socket } from "node:net";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { actionNodes, titleOf } from "../nodes/action-nodes.ts";
import { TestFlow, type FlowNode } from "../support/flow.ts";
import { startServer, type RawServer } from "../support/servers.ts";

const proxyVariables = [
  "http_proxy",
  "https_proxy",
  "HTTP_PROXY",
  "HTTPS_PROXY",
  "all_proxy",
  "ALL_PROXY",
  "npm_config_proxy",
];

/** Everything that this process asks of the network from now on. */
function watchNetwork() {
  /** What asks a name server, or sends without a connection. */
  const asked: string[] = [];
  /** Where connections went, whether they were made or not. */
  const peers = new Set<string>();
  const hook = createHook({
    init(_id, type) {
      if (["GETADDRINFOREQWRAP", "GETNAMEINFOREQWRAP", "QUERYWRAP", "UDPSENDWRAP"].includes(type)) {
        asked.push(type);
      }
    },
  });
  const onSocket = (message: unknown): void => {
    const socket: unknown = Object(message).socket;
    if (socket instanceof Socket) {
      // A socket that is still connecting, or closed, says no address.
      socket.on("connectionAttempt", (address, port) => peers.add(`${address}:${port}`));
    }
  };
  hook.enable();
  subscribe("net.client.socket", onSocket);
  return {
    asked,
    peers,
    stop(): void {
      hook.disable();
      unsubscribe("net.client.socket", onSocket);
    },
  };
}

describe("the device half works with no internet", () => {
  let sim: Simulator;
  let proxy: RawServer;
  let flow: TestFlow;
  const before: Record<string, string | undefined> = {};

  beforeEach(async () => {
    sim = await startSimulator();
    proxy = await startServer((_request, socket) => socket.destroy());
    for (const name of proxyVariables) {
      before[name] = process.env[name];
      process.env[name] = `http://127.0.0.1:${proxy.port}`;
    }
  });

  afterEach(async () => {
    for (const name of proxyVariables) {
      if (before[name] === undefined) {
        delete process.env[name];
      } else {
        process.env[name] = before[name];
      }
    }
    await flow.stop();
    await proxy.close();
    await sim.close();
  });

  const generations = ["newer", "earlier"] as const;
  const cases = actionNodes
    .filter(({ uses }) => uses === "device")
    .flatMap((node) => generations.map((generation) => ({ node, generation })))
    .filter(({ node, generation }) => generation === "newer" || node.type === "dimensioner-measure");

  for (const { node, generation } of cases) {
    it(`${titleOf(node)}, ${generation} device: it connects to the device and to nothing else`, async () => {
      const msg = await node.message(sim);
      const network = watchNetwork();
      try {
        const device: FlowNode = {
          id: "device",
          type: "dimensioner-device",
          address: sim[generation].origin,
          generation,
          checkInterval: 1,
        };
        flow = await TestFlow.start([
          device,
          { id: "node", z: "tab", type: node.type, device: "device", ...node.properties },
        ]);
        const { error, sent } = await flow.run("node", msg);
        assert.equal(error, undefined);
        assert.equal(sent.length, 1);
      } finally {
        network.stop();
      }
      assert.deepEqual(network.asked, [], "it asked a name server");
      assert.deepEqual([...network.peers], [new URL(sim[generation].origin).host]);
      assert.equal(proxy.requests.length, 0);
    });
  }
});
