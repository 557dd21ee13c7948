import { startSimulator, type Simulator } from "../../src/simulator/index.ts";
import { connected, type FlowNode } from "../support/examples.ts";
import { runFlow } from "../support/run-flow.ts";
import { openEditors, type OpenEditor, type Editors } from "../editor/open-editors.ts";
import { importExample } from "../editor/import-example.ts";
import { expectWholePackage } from "./archive.ts";
import { quick } from "./several-examples.ts";

async function deployedNodes({ nodeRed }: OpenEditor): Promise<FlowNode[]> {
  const answer = await nodeRed.adminFetch("/flows");
  return (await answer.json()) as FlowNode[];
}

/** A new user enters nothing; the test has ports of its own. */
async function deployWith(openEditor: OpenEditor, sim: Simulator): Promise<FlowNode[]> {
  const { newer, earlier, cloud } = sim;
  const origins = { newer: newer.origin, earlier: earlier.origin, cloud: cloud.origin };
  const nodes = connected(await deployedNodes(openEditor), origins).map((node) => {
    const { credentials: _, ...saved } = node;
    return quick(saved);
  });
  await openEditor.nodeRed.deploy(nodes);
  return nodes;
}

describe("example 02, as somebody tries it for the first time", () => {
  let editors: Editors;

  before(async () => {
    editors = await openEditors([{ id: "empty", type: "tab", label: "Flow 1" }]);
  });

  it("imported in the editor and deployed, archives a parcel with its video, with the simulator's token", () =>
    editors.run(async (openEditor) => {
      const { page, nodeRed } = openEditor;
      await importExample(page, "02 cloud - scan to archive");
      const started = nodeRed.nextLine(/Started (?:modified )?(?:flows|nodes)/);
      await page.locator("#red-ui-header-button-deploy").click();
      await started;
      const sim = await startSimulator({ encodingMs: 300, mediaDelayMs: 200 });
      try {
        const nodes = await deployWith(openEditor, sim);
        const press = (button: string, until: string) =>
          runFlow({ url: nodeRed.url, nodes, press: button, until: [until], timeoutMs: 120_000 });
        await press("Scan: packing begins", "Recording");
        const said = await press("Scan: parcel is packed", "Archived");
        await expectWholePackage(said.get("Archived") ?? "");
      } finally {
        await sim.close();
      }
    }));
});
