import assert from "node:assert/strict";
import * as v from "valibot";
import { faultRuleSchema } from "../../src/simulator/faults.ts";
import type { FaultRule } from "../../src/simulator/index.ts";

describe("the simulator's fault rules", () => {
  it("are all taken by the schema that the control port reads them with", () => {
    // The other direction compiles in fault-kinds.ts: what the schema lets through is a FaultRule.
    const every = (rule: FaultRule): v.InferInput<typeof faultRuleSchema> => rule;
    const rule: FaultRule = { surface: "cloud", times: 2, fault: { kind: "status", status: 503 } };
    assert.deepEqual(v.parse(faultRuleSchema, every(rule)), rule);
  });
});
