import assert from "node:assert/strict";
import { readExample } from "../support/examples.ts";
import { nodeRedMajor, startNodeRed, type NodeRed } from "../support/node-red.ts";

/** What the Function node Supervisor of example 31 needs, with what it sends to the chart of hours in the log. */
async function flows(): Promise<object[]> {
  const nodes = await readExample("31");
  const tab = nodes.find(({ type }) => type === "tab") ?? assert.fail();
  const texts = nodes.find(({ name }) => name === "All texts") ?? assert.fail();
  const { func, initialize } =
    nodes.find(({ type, name }) => type === "function" && name === "Supervisor") ?? assert.fail();
  const z = tab.id;
  const keep = `global.set("packingStations", msg.payload); return msg;`;
  const say = `if (msg.payload) { node.warn("bars: " + JSON.stringify(msg.payload)); }`;
  return [
    tab,
    { ...texts, wires: [] },
    { id: "in", z, type: "http in", url: "/stations", method: "post", wires: [["keep", "done"]] },
    { id: "keep", z, type: "function", func: keep, outputs: 1, wires: [["supervisor"]] },
    {
      id: "supervisor",
      z,
      type: "function",
      func,
      initialize,
      outputs: 5,
      wires: [[], [], [], ["say"], []],
    },
    { id: "say", z, type: "function", func: say, outputs: 0, wires: [] },
    { id: "done", z, type: "http response", statusCode: "204", wires: [] },
  ];
}

describe(`the chart of parcels by hour of example 31, on Node-RED ${nodeRedMajor}`, () => {
  let nodeRed: NodeRed;

  before(async () => {
    const env = { TZ: "Europe/Berlin" };
    nodeRed = await startNodeRed({ major: nodeRedMajor, env, flows: await flows() });
  });
  after(async () => nodeRed?.stop());

  /** The bars for docks of which each has counted these parcels in these hours, which are in UTC. */
  async function barsOf(
    docks: Readonly<Record<string, Readonly<Record<string, number>>>>,
  ): Promise<string[]> {
    const stations = Object.entries(docks).map(([name, counts]) => {
      const hours = Object.entries(counts).map(([hour, parcels]) => [hour, { parcels, failures: 0 }]);
      return { name, hours: Object.fromEntries(hours), history: [], phase: "idle", parcels: 0, since: 0 };
    });
    const said = nodeRed.nextLine(/bars: /);
    await nodeRed.adminFetch("/stations", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ tab: { tab: "Stations", at: Date.now(), stations } }),
    });
    const bars: unknown = JSON.parse((await said).replace(/^.*bars: /, ""));
    assert.ok(Array.isArray(bars));
    return bars.map(({ hour, series, count }) => `${hour} ${series} ${count}`);
  }

  it("has its hours in the order of time, whenever each dock has begun", async () => {
    assert.deepEqual(
      await barsOf({
        late: { "2026-11-25T08": 1, "2026-11-25T10": 2 },
        early: { "2026-11-25T07": 4, "2026-11-25T10": 3 },
      }),
      ["08:00 early 4", "09:00 late 1", "11:00 late 2", "11:00 early 3"],
    );
  });

  it("says the day where the same hour of two days would be one bar", async () => {
    assert.deepEqual(await barsOf({ dock: { "2026-11-24T09": 1, "2026-11-24T22": 5, "2026-11-25T09": 2 } }), [
      "11/24 10:00 dock 1",
      "11/24 23:00 dock 5",
      "11/25 10:00 dock 2",
    ]);
    assert.deepEqual(await barsOf({ night: { "2026-11-24T22": 5, "2026-11-24T23": 6 } }), [
      "23:00 night 5",
      "00:00 night 6",
    ]);
  });

  it("adds up the hour that there is twice when summer time ends", async () => {
    assert.deepEqual(await barsOf({ dock: { "2026-10-25T00": 1, "2026-10-25T01": 2 } }), ["02:00 dock 3"]);
  });
});
