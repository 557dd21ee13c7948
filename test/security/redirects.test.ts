import assert from "node:assert/strict";
import { startSimulator } from "../../src/simulator/index.ts";
import { actionNodes } from "../nodes/action-nodes.ts";
import { TestFlow } from "../support/flow.ts";
import { failsWith } from "../support/failures.ts";
import { readBody } from "../support/read-body.ts";
import { closesAfterEach } from "../support/opened.ts";
import { commands, connectClients, downloads, reads } from "../support/operations.ts";
import { reply, replyJson, startServer, type RawServer } from "../support/servers.ts";

const statuses = [301, 302, 303, 307, 308];

/** Where a redirect may want to lead: another host, another port, and back to what acts. */
function locationsOf({ port }: RawServer): string[] {
  return [
    `http://127.0.0.1:${port}/api/v1/measure`,
    `http://localhost:${port}/`,
    `//localhost:${port}/`,
    "/api/v1/measure",
    "../../../api/remotetrigger/measure?deviceReference=ABCD2345",
  ];
}

describe(`redirects: ${statuses.join(", ")} are never followed, and no token goes elsewhere`, () => {
  const opened = closesAfterEach();

  it("by no call of any surface", async () => {
    const elsewhere = opened(await startServer((_request, socket) => replyJson(socket, {})));
    for (const location of locationsOf(elsewhere)) {
      for (const status of statuses) {
        const server = opened(
          await startServer((_request, socket) => reply(socket, { status, headers: { location } })),
        );
        const clients = opened(connectClients({ newer: server, earlier: server, cloud: server }, 60_000));
        const calls: (() => Promise<unknown>)[] = [
          ...[...commands, ...reads].map((one) => () => one.run(clients)),
          ...downloads.map((one) => () => readBody(one.start(clients, "1", 0))),
        ];
        for (const [index, call] of calls.entries()) {
          const { details } = await failsWith(call(), { code: "ERR_HTTP", statusCode: status });
          assert.ok(details.outcome === "refused" || details.outcome === null);
          assert.equal(server.requests.length, index + 1, `${details.operation} was sent again`);
        }
      }
    }
    assert.equal(elsewhere.connections, 0);
  });

  it("by no node", async () => {
    const elsewhere = opened(await startServer((_request, socket) => replyJson(socket, {})));
    const sim = opened(await startSimulator());
    const nodes = actionNodes.map((node, index) => ({ ...node, id: `node-${index}` }));
    const flow = await TestFlow.start(
      [
        { id: "device", type: "dimensioner-device", address: sim.newer.origin },
        { id: "cloud", type: "dimensioner-cloud", baseUrl: sim.cloud.origin },
        ...nodes.map(({ id, type, uses, properties }) => ({
          id,
          z: "tab",
          type,
          [uses]: uses,
          ...properties,
        })),
      ],
      { cloud: { token: sim.cloud.token } },
    );
    try {
      for (const { id, message } of nodes) {
        const msg = await message(sim);
        const actions = JSON.stringify([sim.newer.actions, sim.earlier.actions]);
        for (const location of locationsOf(elsewhere)) {
          for (const status of statuses) {
            sim.faults.add({ times: 0, fault: { kind: "status", status, headers: { location } } });
            const { error, sent } = await flow.run(id, { ...msg });
            assert.equal(error?.code, "ERR_HTTP", id);
            assert.equal(sent.length, 0, id);
            assert.ok(
              !JSON.stringify(error.cause).includes("localhost"),
              "the error repeats where it should lead",
            );
            sim.faults.clear();
          }
        }
        assert.equal(JSON.stringify([sim.newer.actions, sim.earlier.actions]), actions, id);
      }
      assert.equal(elsewhere.connections, 0);
    } finally {
      await flow.stop();
    }
  });
});
