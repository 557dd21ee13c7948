import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { startSimulator } from "../../src/simulator/index.ts";
import { connected, isFlow, type FlowNode } from "./flow-blocks.ts";
import { nodeRedMajor, startNodeRed } from "../support/node-red.ts";
import { blocksIn, readPages, root } from "./pages.ts";

const flows = blocksIn(readPages(), "json").flatMap(({ at, text }) => {
  const value: unknown = JSON.parse(text);
  return isFlow(value) ? [{ at, nodes: value }] : [];
});
/** What Node-RED itself saves of any node. */
const everywhere = ["id", "type", "z", "x", "y", "wires", "name", "g", "d", "l", "info"];

/** The properties that a type of ours saves. */
async function propertiesOf(type: string): Promise<string[]> {
  const name = type.replace("dimensioner-", "");
  const file = pathToFileURL(join(root, "nodes", name, `${name}.shared.ts`)).href;
  const { defaults } = (await import(file)) as { defaults: object };
  return Object.keys(defaults);
}

describe("the flows of the pages", () => {
  it("are found", () => assert.ok(flows.length > 0));

  for (const { at, nodes } of flows) {
    it(`${at} has nodes that are wired to each other, and properties that they have`, async () => {
      const ids = nodes.map(({ id }) => id);
      assert.deepEqual([...new Set(ids)], ids);
      const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
        "node-red": { nodes: object };
      };
      for (const node of nodes) {
        for (const id of (node.wires ?? []).flat()) {
          assert.ok(ids.includes(id), `${node.id} is wired to ${id}`);
        }
        for (const property of ["device", "cloud", "z"]) {
          const id = node[property];
          const isThere = id === undefined || (typeof id === "string" && ids.includes(id));
          assert.ok(isThere, `${node.id}: there is no such ${property}`);
        }
        if (!node.type.startsWith("dimensioner-")) {
          continue;
        }
        assert.ok(node.type in manifest["node-red"].nodes, node.type);
        const known = [...everywhere, ...(await propertiesOf(node.type))];
        assert.deepEqual(
          Object.keys(node).filter((property) => !known.includes(property)),
          [],
          node.id,
        );
      }
    });

    it(`${at} runs in a real Node-RED, against the simulator`, async () => {
      const sim = await startSimulator();
      const nodeRed = await startNodeRed({ major: nodeRedMajor });
      try {
        await nodeRed.deploy(connected(nodes, sim));
        const unknown = nodeRed.logs.filter((line) => /missing types|Waiting for missing/i.test(line));
        assert.deepEqual(unknown, []);
        const [press] = nodes.filter(({ type }: FlowNode) => type === "inject");
        assert.ok(press !== undefined, "there is no button to press");
        const answered = new Promise((resolve) => sim.onSettled(resolve));
        assert.equal((await nodeRed.adminFetch(`/inject/${press.id}`, { method: "POST" })).status, 200);
        const { outcome, statusCode } = (await answered) as { outcome: string; statusCode?: number };
        assert.deepEqual([outcome, statusCode], ["answered", 200]);
      } finally {
        await nodeRed.stop();
        await sim.close();
      }
    });
  }
});
