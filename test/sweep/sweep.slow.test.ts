import assert from "node:assert/strict";
import { manyAtOnce } from "../support/opened.ts";
import { StepWatch } from "./steps.ts";
import { sweep, sweptOperations } from "./sweep.ts";

/**
 * Always the same points: the first, the last, and one in eight of the others. test/long/sweep.ts tries all of them.
 */
const density = { stride: 8, bytesApart: Number.POSITIVE_INFINITY, maxSteps: 30 };
const environmentsEach = 3;
const fewestCases = 1_000;

describe("the sweep: every promise holds whichever point of an operation fails", () => {
  let watch: StepWatch;
  let cases = 0;

  before(() => {
    watch = new StepWatch();
  });
  after(() => watch.close());

  const rows = Object.fromEntries(sweptOperations.map((operation) => [operation.name, operation]));
  manyAtOnce(rows, async (operation) => {
    const report = await sweep(watch, operation, density, environmentsEach);
    cases += report.cases;
    assert.deepEqual(report.failures, [], report.failures.slice(0, 3).join("\n\n"));
    assert.ok(report.ends.size > 1, "no point made a difference");
  });

  it(`has tried more than ${fewestCases} cases`, () => {
    assert.ok(cases > fewestCases, `${cases} cases`);
  });
});
