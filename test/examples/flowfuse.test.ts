import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { readExample, type FlowNode } from "../support/examples.ts";
import { runFlow } from "../support/run-flow.ts";
import { nodeRedMajor, startNodeRed, type NodeRed } from "../support/node-red.ts";
import { readJson } from "./archive.ts";
import { watchCanvas } from "./canvas.ts";
import { installedPackage } from "../package/installed.ts";
import { quick } from "./several-examples.ts";
import { measureEach, severalParcels } from "./several-parcels.ts";

describe("example 23: FlowFuse", () => {
  let simulator: Simulator;
  let folder: string;
  let nodeRed: NodeRed | undefined;

  before(async () => {
    simulator = await startSimulator({ mediaDelayMs: 100 });
    folder = await mkdtemp(join(tmpdir(), "site-"));
  });
  afterEach(async () => {
    await nodeRed?.stop();
    nodeRed = undefined;
  });
  after(async () => {
    await simulator?.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  });

  /** Deploys the example as it is shipped, but for its pauses, in a Node-RED with these variables. */
  async function deploy(
    env: Readonly<Record<string, string>>,
  ): Promise<{ nodes: FlowNode[]; site: NodeRed }> {
    const nodes = (await readExample("23")).map(quick);
    const site = await startNodeRed({
      major: nodeRedMajor,
      packageDir: (await installedPackage()).installed,
      env,
      flows: nodes,
    });
    nodeRed = site;
    return { nodes, site };
  }

  it("takes the addresses, the token, the device and the folder of its site from the environment alone", async () => {
    const { nodes, site } = await deploy({
      DIMENSIONER_ADDRESS: new URL(simulator.newer.origin).host,
      DIMENSIONER_CLOUD: simulator.cloud.origin,
      DIMENSIONER_TOKEN: simulator.cloud.token,
      DIMENSIONER_CODE: "ABCD2345",
      DIMENSIONER_ARCHIVE: folder,
    });
    const canvas = await watchCanvas(site);
    const hear = async (press: string, until: string): Promise<string> => {
      const said = await runFlow({ url: site.url, nodes, press, until: [until], timeoutMs: 120_000 });
      return said.get(until) ?? "";
    };
    try {
      assert.match(await hear("Scan, measured locally", "Measured"), /^33\.5 × 21 × 12\.5 cm/);
      simulator.faults.add(severalParcels("newer"));
      assert.equal(await hear("Scan, measured locally", "Measured"), measureEach);
      const archived = await hear("Scan, measured through the cloud", "Archived");
      assert.ok(archived.startsWith(folder), archived);
      assert.equal((await readJson(join(archived, "manifest.json")))["complete"], true);
      canvas.check();
    } finally {
      canvas.close();
    }
  });

  it("says what is not set, and sends nothing", async () => {
    const { nodes, site } = await deploy({});
    simulator.reset();
    const press = "Scan, measured locally";
    const said = await runFlow({ url: site.url, nodes, press, until: ["What to do"], timeoutMs: 120_000 });
    assert.match(said.get("What to do") ?? "", /address/i);
    assert.deepEqual(simulator.requests, []);
  });
});
