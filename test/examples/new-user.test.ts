import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { connected, nodeNamed, type FlowNode } from "../../tools/demo/examples.ts";
import { runFlow } from "../../tools/demo/run-flow.ts";
import { openBoth, type Bench, type Both } from "../editor/both.ts";
import { importExample } from "../editor/import-example.ts";
import { filesIn } from "./archive.ts";
import "./installed.ts";

const button = "Scan a parcel";
const archived = ["Archived: measurement and pictures", "Archived: video"];

async function deployedNodes({ nodeRed }: Bench): Promise<FlowNode[]> {
  const answer = await nodeRed.adminFetch("/flows");
  return (await answer.json()) as FlowNode[];
}

/** What a new user enters is only a folder; the test has ports of its own besides. */
async function deployWith(bench: Bench, sim: Simulator, folder: string): Promise<FlowNode[]> {
  const { newer, earlier, cloud } = sim;
  const origins = { newer: newer.origin, earlier: earlier.origin, cloud: cloud.origin };
  const nodes = connected(await deployedNodes(bench), origins).map((node) => {
    const { credentials: _, ...saved } = node;
    return saved.type === "tab" && "env" in saved
      ? { ...saved, env: [{ name: "ARCHIVE_FOLDER", value: folder, type: "str" }] }
      : saved;
  });
  await bench.nodeRed.deploy(nodes);
  return nodes;
}

describe("example 01, as somebody tries it for the first time", function () {
  this.timeout(120_000);
  let both: Both;

  before(async () => {
    both = await openBoth([{ id: "empty", type: "tab", label: "Flow 1" }]);
  });
  after(() => both?.close());

  it("imported in the editor and deployed, archives the images and the film of a scan, with the simulator's token", () =>
    both.run(async (bench) => {
      const { page, nodeRed } = bench;
      await page.evaluate("$.fx.off = true");
      await importExample(page, "01 newer device - scan to archive");
      const started = nodeRed.nextLine(/Started (?:modified )?(?:flows|nodes)/);
      await page.locator("#red-ui-header-button-deploy").click();
      await started;
      const folder = await mkdtemp(join(tmpdir(), "new-user-"));
      const webhook = `${nodeRed.url}/dimensioner/transaction`;
      const sim = await startSimulator({ encodingMs: 300, mediaDelayMs: 200, webhooks: [{ url: webhook }] });
      try {
        const nodes = await deployWith(bench, sim, folder);
        const said = await runFlow({
          url: nodeRed.url,
          nodes,
          press: button,
          until: archived,
          timeoutMs: 30_000,
        });
        const barcode = String(nodeNamed(nodes, button)["payload"]);
        const parcel = said.get("Archived: measurement and pictures") ?? "";
        assert.equal(basename(dirname(parcel)), barcode);
        assert.deepEqual(await filesIn(parcel), [
          "annotated.jpg",
          "answer.json",
          "depth.bmp",
          "result.json",
          "video.mp4",
        ]);
      } finally {
        await sim.close();
        await rm(folder, { recursive: true, force: true, maxRetries: 3 });
      }
    }));
});
