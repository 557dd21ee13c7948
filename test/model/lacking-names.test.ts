import assert from "node:assert/strict";
import * as fc from "fast-check";
import { lackingNames } from "../../src/model/measure-result.ts";

describe("the names that are lacking", () => {
  for (const [wanted, there, lacking] of [
    [[], ["a"], []],
    [["a", "A"], ["a"], ["A"]],
    [["a", "b", "a"], ["B", "A", "a"], []],
    [["a", "a", "b"], [], ["a", "a", "b"]],
  ] as const) {
    it(`of ${wanted.join(", ") || "none"} beside ${there.join(", ") || "none"} are ${lacking.join(", ") || "none"}`, () =>
      assert.deepEqual(lackingNames(wanted, there), lacking));
  }

  it("are those that are left when each name that is there stands for one that is wanted", () => {
    const names = fc.array(fc.constantFrom("a", "A", "b", "B", "\u0130", "i\u0307", "__proto__"), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(names, names, (wanted, there) => {
        const left = there.map((name) => name.toLowerCase());
        const lacking = wanted.filter((name) => {
          const index = left.indexOf(name.toLowerCase());
          if (index >= 0) {
            left.splice(index, 1);
          }
          return index < 0;
        });
        assert.deepEqual(lackingNames(wanted, there), lacking);
      }),
      { numRuns: 2_000 },
    );
  });
});
