import assert from "node:assert/strict";
import { join } from "node:path";
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
});
