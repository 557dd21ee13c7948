import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { connected } from "../support/examples.ts";
import { TestFlow, type FlowNode, type Message } from "../support/flow.ts";

const fixtures = join(import.meta.dirname, "../fixtures/flows");

/** A saved flow with one node of each type, each named like its type, moved to the simulator and to a folder. */
async function readFlow(file: string, sim: Simulator, folder: string): Promise<FlowNode[]> {
  const nodes = JSON.parse(await readFile(join(fixtures, file), "utf8")) as FlowNode[];
  const origins = { newer: sim.newer.origin, earlier: sim.earlier.origin, cloud: sim.cloud.origin };
  return connected(nodes, origins, sim.cloud.token)
    .filter(({ type }) => type !== "tab")
    .map((node) => {
      // The test wires what it runs, and gives the credentials beside the flow.
      const left = Object.entries(node).filter(([name]) => name !== "wires" && name !== "credentials");
      // Version 0.1 did not wait until the cloud's list has settled; the default, a minute, is longer than a test may take.
      const settled = node.type === "dimensioner-archive" ? { settle: 0 } : {};
      const moved = node.type === "dimensioner-store" ? { folder } : settled;
      return { ...(Object.fromEntries(left) as FlowNode), ...moved };
    });
}

describe("flows that were saved by another version", () => {
  let sim: Simulator;
  let flow: TestFlow;
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "saved-flow-"));
    sim = await startSimulator({ encodingMs: 50 });
  });
  afterEach(async () => {
    await flow.stop();
    await sim.close();
    await rm(folder, { recursive: true, force: true });
  });

  const start = async (nodes: readonly FlowNode[]): Promise<void> => {
    const { token } = sim.cloud;
    flow = await TestFlow.start(nodes, { cloud: { token }, "transaction-in": { secret: "s" } });
  };
  const run = async (id: string, msg: Message): Promise<Message> => {
    const { error, sent } = await flow.run(id, msg);
    assert.equal(error, undefined, id);
    return sent[0]?.msg ?? {};
  };

  for (const file of ["0.1.0.json"]) {
    it(`runs each node of ${file} as it was saved`, async () => {
      const saved = await readFlow(file, sim, folder);
      await start(saved);
      assert.deepEqual(
        flow.shown.filter(({ fill }) => fill === "red"),
        [],
      );

      const measured = await run("measure", { transactionReference: "ORDER-1" });
      assert.equal((measured["payload"] as { ok: boolean }).ok, true);
      const image = await run("fetch-image", { imageIdentifier: measured["imageIdentifier"] });
      assert.ok(Buffer.isBuffer(image["payload"]));

      sim.newer.setMode("video-only");
      await run("video-control", { transactionReference: "ORDER-1" });
      await fetch(`${sim.newer.origin}/api/v1/video/stop`, { method: "POST" });
      const video = await run("fetch-video", {});
      assert.equal(video["contentType"], "video/mp4");

      sim.newer.setMode("video-with-measurement");
      const remote = await run("remote-trigger", { transactionReference: "ORDER-2" });
      assert.equal((remote["payload"] as { ok: boolean }).ok, true);

      const { contentId } = sim.cloud.addMedia("905865", { contentType: "video/mp4", generateBytes: 50_000 });
      const listed = await run("media-list", { transactionId: "905865" });
      assert.equal((listed["payload"] as unknown[]).length, 1);
      const medium = await run("fetch-media", { transactionId: "905865", payload: { contentId } });
      assert.ok(Buffer.isBuffer(medium["payload"]));
      const devices = await run("device-list", {});
      assert.ok((devices["payload"] as unknown[]).length > 0);
      const archived = await run("archive", { transactionId: "905865", transactionReference: "ORDER-2" });
      assert.equal((archived["payload"] as { complete: boolean }).complete, true);
    });
  }

  async function refusesAsNewer(id: string): Promise<void> {
    const { error, sent } = await flow.run(id, { transactionId: "905865", transactionReference: "ORDER-1" });
    assert.equal(error?.code, "ERR_CONFIG", id);
    assert.match(error.message, /saved by a newer version/, id);
    assert.deepEqual(sent, [], id);
  }

  it("refuses each node that a newer version has saved, in words, and touches no machine", async () => {
    const saved = await readFlow("0.1.0.json", sim, folder);
    const configs = ["device", "cloud", "store"];
    await start(saved.map((node) => (configs.includes(node.id) ? node : { ...node, version: 99 })));
    for (const { id } of saved.filter((node) => !configs.includes(node.id))) {
      const shown = await flow.untilStatus(id, ({ fill }) => fill === "red");
      assert.equal(shown.shape, "ring", id);
      if (id === "transaction-in") {
        continue;
      }
      assert.equal(flow.lastStatus(id)?.text, "saved by a newer version", id);
      await refusesAsNewer(id);
    }
    assert.deepEqual(sim.requests, []);
    assert.deepEqual(await readdir(folder), []);
  });

  it("refuses the nodes of a config node that a newer version has saved", async () => {
    const saved = await readFlow("0.1.0.json", sim, folder);
    await start(
      saved.map((node) => (["device", "cloud"].includes(node.id) ? { ...node, version: 99 } : node)),
    );
    for (const id of ["measure", "remote-trigger", "archive"]) {
      await refusesAsNewer(id);
    }
    assert.deepEqual(sim.requests, []);
  });
});
