import assert from "node:assert/strict";
import { basename } from "node:path";
import { filesIn, readJson } from "./archive.ts";
import { startStage, type Stage } from "./stage.ts";

describe("example 03: earlier device, measure", function () {
  this.timeout(60_000);
  let stage: Stage;

  before(async () => {
    stage = await startStage({ example: "03" });
  });
  beforeEach(() => stage.simulator.reset());
  after(() => stage.close());

  it("saves the result of one scan", async () => {
    const file = (await stage.scan({ until: ["Archived"] })).get("Archived") ?? "";
    assert.deepEqual(await filesIn(stage.archive), [basename(file)]);
    assert.ok(basename(file).startsWith("395212340000004173 "));
    const result = await readJson(file);
    assert.equal(result["ok"], true);
    assert.equal(result["source"], "earlier-device");
    const [object] = result["measuredObjects"] as { length: number; width: number; height: number }[];
    assert.deepEqual([object?.length, object?.width, object?.height], [33.5, 21, 12.5]);
    assert.equal(stage.simulator.requestsTo("earlier").length, 1);
  });

  it("says what to do when the measurement fails", async () => {
    stage.simulator.earlier.setParcel(null);
    const said = await stage.scan({ until: ["Measured in vain: place it anew and scan again"] });
    assert.match([...said.values()].join(), /Place the parcel again/);
  });
});
