import assert from "node:assert/strict";
import { basename } from "node:path";
import { filesIn, readJson } from "./archive.ts";
import { startExample, type ExampleRun } from "./one-example.ts";

describe("example 03: earlier device, measure", function () {
  this.timeout(60_000);
  let run: ExampleRun;

  before(async () => {
    run = await startExample({ example: "03" });
  });
  beforeEach(() => run.simulator.reset());
  after(() => run.close());

  it("saves the result of one scan", async () => {
    const file = (await run.scan({ until: ["Archived"] })).get("Archived") ?? "";
    assert.deepEqual(await filesIn(run.archive), [basename(file)]);
    assert.ok(basename(file).startsWith("395212340000004173 "));
    const result = await readJson(file);
    assert.equal(result["ok"], true);
    assert.equal(result["source"], "earlier-device");
    const [object] = result["measuredObjects"] as { length: number; width: number; height: number }[];
    assert.deepEqual([object?.length, object?.width, object?.height], [33.5, 21, 12.5]);
    assert.equal(run.simulator.requestsTo("earlier").length, 1);
  });

  it("says what to do when the measurement fails", async () => {
    run.simulator.earlier.setParcel(null);
    const said = await run.scan({ until: ["Measurement failed: reposition the parcel and scan again"] });
    assert.match([...said.values()].join(), /Reposition the parcel/);
  });
});
