import assert from "node:assert/strict";
import { startExamples, type ExamplesRun } from "./several-examples.ts";

const reference = "395212340000004173";

describe("the example 24: parcels over a limit to a second line", () => {
  let run: ExamplesRun;

  before(async () => {
    run = await startExamples(["24"]);
  });
  beforeEach(() => run.simulator.reset());
  after(() => run.close());

  const said = async (debug: string) => (await run.press("24", "Scan a parcel", [debug])).get(debug);

  it("bills a parcel within the limits, and says how", async () => {
    assert.equal(
      await said("Line 1"),
      `${reference}: 2 kg (34 × 21 × 13 cm = 9282 cm³, ÷ 5000 = 1.86, rounded up to 2 kg)`,
    );
  });

  it("sends a long parcel to the second line", async () => {
    run.simulator.newer.setParcel("tube-box");
    assert.equal(await said("Line 2"), `${reference}: long (77 > 60 cm)`);
  });

  it("sends a parcel without a weight nowhere, and says what to do", async () => {
    run.simulator.newer.setParcel(null);
    assert.match((await said("Not measured: correct it and scan again")) ?? "", /^Measurement failed/);
    // So far below zero that the noise of the simulated scale does not reach it.
    run.simulator.newer.setParcel({ lengthCm: 20, widthCm: 20, heightCm: 20, weightKg: -1 });
    assert.match(
      (await said("Not billable: put the parcel aside")) ?? "",
      /^The weight of the parcel is missing/,
    );
  });

  it("does not send a measured parcel back for another scan that cannot be billed for its unit", async () => {
    const set = { dimsUnitOfMeasure: "cubit" };
    run.simulator.faults.add({
      surface: "newer",
      path: "/api/v1/measure",
      fault: { kind: "json-patch", set },
    });
    assert.match((await said("Not billable: put the parcel aside")) ?? "", /cubit/);
  });
});
