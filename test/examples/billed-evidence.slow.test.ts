import assert from "node:assert/strict";
import { join } from "node:path";
import { nodeNamed, readExample } from "../support/examples.ts";
import { expectWholePackage, readJson } from "./archive.ts";
import { startExamples, type ExamplesRun } from "./several-examples.ts";

const sscc = "395212340000004173";

describe("the example 25: from the barcode to billed evidence", () => {
  let run: ExamplesRun;

  before(async () => {
    run = await startExamples(["25"]);
  });
  after(() => run.close());

  it("archives the parcel of one scan with its video, its scan and its billable weight", async () => {
    const folder = (await run.press("25", "Scan a label", ["Archived"])).get("Archived") ?? "";
    await expectWholePackage(folder);
    const manifest = await readJson(join(folder, "manifest.json"));
    const { scan, billable, references } = manifest as Record<string, Record<string, unknown>>;
    assert.equal(references?.["transactionReference"], sscc);
    assert.equal(scan?.["sscc"], sscc);
    assert.deepEqual(
      [billable?.["weight"], billable?.["unit"], billable?.["basis"]],
      [2, "kg", "dimensional"],
    );
  });

  it("archives a parcel that cannot be billed where a Catch node leads to the archive, as its comment says", async () => {
    const nodes = await readExample("25");
    const [billing, archive] = ["Billable weight", "Archive"].map((name) => nodeNamed(nodes, name).id);
    const { id, wires } = nodeNamed(nodes, "Something went wrong");
    const [[debug] = []] = wires as string[][];
    await run.redeploy((node) =>
      node.id === id ? { ...node, scope: [billing], wires: [[debug, archive]] } : node,
    );
    // So far below zero that the noise of the simulated scale does not reach it.
    run.simulator.newer.setParcel({ lengthCm: 20, widthCm: 20, heightCm: 20, weightKg: -1 });
    const said = await run.press("25", "Scan a label", ["What to do", "Archived"]);
    assert.match(said.get("What to do") ?? "", /^The weight of the parcel is missing/);
    const folder = said.get("Archived") ?? "";
    await expectWholePackage(folder);
    assert.equal((await readJson(join(folder, "measurement.json")))["length"], 20);
  });
});
