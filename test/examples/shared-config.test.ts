import assert from "node:assert/strict";
import { exampleNames, readExample, type FlowNode } from "../../tools/demo/examples.ts";

/** Which config nodes of this package an example brings. */
const kinds = ["dimensioner-device", "dimensioner-cloud", "dimensioner-store"];

describe("the config nodes of the examples", () => {
  it("are the same ones in every example, so that a second import adds no second device, cloud or store", async () => {
    const first = new Map<string, FlowNode>();
    const addresses = new Map<string, string>();
    for (const file of await exampleNames()) {
      for (const node of (await readExample(file)).filter(({ type }) => kinds.includes(type))) {
        assert.deepEqual(node, first.get(node.id) ?? node, file);
        first.set(node.id, node);
        const what = String(node["address"] ?? node["baseUrl"] ?? node["folder"]);
        assert.equal(addresses.get(what) ?? node.id, node.id, `${file}: ${what} has two config nodes`);
        addresses.set(what, node.id);
      }
    }
    assert.ok(first.size > 2);
  });
});
