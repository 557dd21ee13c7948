import assert from "node:assert/strict";
import { properties as archiveNode } from "../../nodes/archive/archive.shared.ts";
import { readPeriod } from "../../src/rules/periods.ts";
import { type FlowNode, exampleNames, readExample } from "../support/examples.ts";

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

describe("the examples 01, 02 and 03", () => {
  /** They stand for a person, or show what there is. */
  const aside = ["inject", "debug", "catch", "comment"];

  it("archive a parcel with at most six nodes and six wires, where version 0.1 had 29 and 27", async () => {
    for (const example of ["01", "02", "03"]) {
      const nodes = await readExample(example);
      const wired = nodes.filter((node) => node["wires"] !== undefined && !aside.includes(node.type));
      assert.ok(wired.length <= 6, `${example}: ${wired.map(({ type }) => type).join(", ")}`);
      const wires = nodes.flatMap((node) => ((node["wires"] ?? []) as string[][]).flat());
      assert.ok(wires.length <= 6, `${example}: ${wires.length} wires`);
    }
  });
});

describe("an example that archives again what is missing", () => {
  it("also lists each morning what was accepted long before it failed", async () => {
    const now = new Date();
    const nodes = await readExample("26");
    const lists = nodes.filter(({ action }) => action === "missing").map(({ id }) => id);
    const periods = nodes
      .filter(
        ({ type, wires }) =>
          type === "inject" && (wires as string[][]).flat().some((id) => lists.includes(id)),
      )
      .map(({ payload }) => readPeriod(String(payload), now) ?? assert.fail(String(payload)));
    assert.equal(periods.length, 1);
    const hours = [
      archiveNode.giveUp.default,
      ...nodes.flatMap(({ giveUp }) => (giveUp === undefined ? [] : Number(giveUp))),
    ];
    for (const { from } of periods) {
      assert.ok(now.getTime() - Date.parse(from) > (Math.max(...hours) + 24) * 3_600_000, from);
    }
  });
});

describe("the debug nodes of the examples", () => {
  it("show no sentence below the node, where it is cut after 32 characters and stays when all is well again", async () => {
    for (const file of await exampleNames()) {
      for (const node of (await readExample(file)).filter(({ tostatus }) => tostatus === true)) {
        assert.doesNotMatch(String(node["statusVal"]), /message$/, `${file}: ${node.name}`);
      }
    }
  });
});
