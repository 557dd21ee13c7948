import assert from "node:assert/strict";
import { inspect } from "node:util";
import * as fc from "fast-check";
import { type Parcel, calculate, english, explain } from "../../src/billing/tariffs/calculate.ts";
import { presets } from "../../src/billing/tariffs/presets.ts";
import {
  type Fraction,
  type WeightRule,
  compare,
  fraction,
  readFraction,
  roundedUp,
  toDecimal,
  toLength,
  toWeight,
} from "../../src/billing/tariffs/rule.ts";

const decimal = (most: number) =>
  fc
    .tuple(fc.integer({ min: 0, max: most }), fc.integer({ min: 1, max: 999 }))
    .map(([whole, part]) => fraction(`${whole}.${String(part).padStart(3, "0")}`));

const side = decimal(300);
type Weighed = Parcel & { readonly weight: NonNullable<Parcel["weight"]> };

const parcel: fc.Arbitrary<Weighed> = fc.record({
  sides: fc.tuple(side, side, side),
  lengthUnit: fc.constantFrom("mm" as const, "cm" as const, "in" as const),
  weight: fc.record({ value: decimal(200), unit: fc.constantFrom("g", "kg", "oz", "lb") }),
});
const own: fc.Arbitrary<WeightRule> = fc.record({
  unit: fc.constantFrom("cm-kg", "in-lb"),
  divisor: fc.integer({ min: 1, max: 9000 }).map(String),
  sideRounding: fc.constantFrom("none", "up", "nearest"),
  productRounding: fc.constantFrom("0", "0.1", "0.5", "1", "0.25"),
  threshold: fc.constantFrom("0", "1728", "30000"),
  minimum: fc.constantFrom("0", "0.3", "1", "5"),
});
const rule = fc.oneof(own, fc.constantFrom(...Object.values(presets).flatMap(({ rules }) => rules)));

function billed(given: Parcel, by: WeightRule): Fraction {
  return calculate(given, by).billed?.weight ?? assert.fail("nothing is billed");
}

describe("any parcel by any rule", () => {
  const holds = (check: (given: Weighed, by: WeightRule) => void) =>
    fc.assert(fc.property(parcel, rule, check), { numRuns: 2_000 });

  it("is never billed less than it weighs, nor less than the least that is billed", () => {
    holds((given, by) => {
      const weight = billed(given, by);
      const actual = toWeight(given.weight.value, given.weight.unit, by.unit === "cm-kg" ? "kg" : "lb");
      assert.ok(compare(weight, actual) >= 0);
      assert.ok(compare(weight, fraction(by.minimum)) >= 0);
    });
  });

  it("is billed no less where a side or its weight is greater", () => {
    fc.assert(
      fc.property(parcel, rule, fc.integer({ min: 0, max: 3 }), decimal(50), (given, by, index, more) => {
        const add = (value: Fraction, at: number) => (at === index ? sum(value, more) : value);
        const [length, width, height] = given.sides;
        const greater: Parcel = {
          ...given,
          sides: [add(length, 0), add(width, 1), add(height, 2)],
          weight: { ...given.weight, value: add(given.weight.value, 3) },
        };
        assert.ok(compare(billed(greater, by), billed(given, by)) >= 0);
      }),
      { numRuns: 2_000 },
    );
  });

  it("is billed the same in whichever unit it was measured, and however it lies", () => {
    holds((given, by) => {
      const expected = billed(given, by);
      for (const unit of ["mm", "cm", "m", "in"] as const) {
        const [length, width, height] = given.sides;
        const to = (value: Fraction) => toLength(value, given.lengthUnit, unit);
        for (const weightUnit of ["g", "kg", "oz", "lb"] as const) {
          const { value, unit: from } = given.weight;
          const same: Parcel = {
            sides: [to(height), to(length), to(width)],
            lengthUnit: unit,
            weight: { value: toWeight(value, from, weightUnit), unit: weightUnit },
          };
          assert.equal(compare(billed(same, by), expected), 0);
        }
      }
    });
  });

  it("is billed a multiple of the step, less than one step above what decides", () => {
    holds((given, by) => {
      const { billed: found, actual, dimensional } = calculate(given, by);
      const step = fraction(by.productRounding === "0" ? "0.001" : by.productRounding);
      const weight = found?.weight ?? assert.fail();
      if (found?.basis !== "minimum") {
        assert.equal(compare(weight, roundedUp(weight, step)), 0);
        const decisive = found?.basis === "actual" ? actual : dimensional;
        assert.ok(decisive !== null && compare(sum(decisive, step), weight) > 0);
      }
    });
  });

  it("is explained by numbers that are in it", () => {
    holds((given, by) => {
      const calculation = calculate(given, by);
      const text = explain(calculation, english);
      const shown = toDecimal(calculation.billed?.weight ?? assert.fail(), 4);
      assert.ok(
        new RegExp(`(?:^| )${shown.replace(".", "\\.")} (?:kg|lb)$`).test(text),
        `${text} (${shown})`,
      );
    });
  });
});

describe("a decimal number", () => {
  it("is read as it is written, from a number as from a text", () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e9, max: 1e9 }), fc.integer({ min: 0, max: 6 }), (digits, decimals) => {
        const text = toDecimal({ numerator: BigInt(digits), denominator: 10n ** BigInt(decimals) }, decimals);
        for (const given of [text, Number(text)]) {
          assert.equal(toDecimal(readFraction(given) ?? assert.fail(text), 6), text);
        }
      }),
      { numRuns: 5_000 },
    );
  });

  it("is what a single-precision number or the noise of a calculation stands for", () => {
    const cases: readonly (readonly [number, string])[] = [
      [33.02, "33.02"],
      [Math.fround(33.02), "33.02"],
      [Math.fround(149.86), "149.86"],
      [0.1 + 0.2, "0.3"],
      [33.02 / 2.54, "13"],
      [12_345_678, "12345678"],
      [1e-7, "0.0000001"],
      [1e21, "1000000000000000000000"],
      [-2.5, "-2.5"],
    ];
    for (const [given, expected] of cases) {
      assert.equal(toDecimal(readFraction(given) ?? assert.fail(), 9), expected);
    }
    for (const given of [
      Number.NaN,
      Infinity,
      "",
      " ",
      "1,500",
      "1,5,0",
      "1.5,0",
      "1 2",
      "0x10",
      "1e999",
      "9".repeat(41),
      null,
      {},
      [1],
      true,
    ]) {
      assert.equal(readFraction(given), null, inspect(given));
    }
  });
});

function sum(a: Fraction, b: Fraction): Fraction {
  return {
    numerator: a.numerator * b.denominator + b.numerator * a.denominator,
    denominator: a.denominator * b.denominator,
  };
}
