import {
  compare,
  dividedBy,
  fraction,
  greaterOf,
  one,
  roundedToNearest,
  roundedUp,
  times,
  type Fraction,
} from "./fraction.ts";
import { ruleUnits, type WeightRule } from "./rule.ts";
import type { LengthUnit, WeightUnit } from "../../rules/units.ts";
import { toLength, toWeight } from "./units.ts";

/** A measured parcel. */
export interface Parcel {
  readonly sides: readonly [Fraction, Fraction, Fraction];
  readonly lengthUnit: LengthUnit;
  /** Null if it is not known. */
  readonly weight: { readonly value: Fraction; readonly unit: WeightUnit } | null;
}

/** The result of a rule for a parcel; lengths and weights are in the rule's units. */
export interface Calculation {
  readonly rule: WeightRule;
  /** The sides in the order of the parcel, rounded by the rule. */
  readonly sides: readonly [Fraction, Fraction, Fraction];
  readonly volume: Fraction;
  /** The dimensional weight before it is rounded up; null if the volume is not above the threshold. */
  readonly dimensional: Fraction | null;
  /** The actual weight before it is rounded up; null if it is not known. */
  readonly actual: Fraction | null;
  /** The billed weight; null if there is neither a dimensional nor an actual weight. */
  readonly billed: { readonly weight: Fraction; readonly basis: Basis } | null;
}

/** Which weight is billed; if two are equal after rounding up, the actual one. */
export type Basis = "actual" | "dimensional" | "minimum";

const thousandth = fraction("0.001");

/** Calculates the billable weight: every number stays exact, and each is rounded at most once. */
export function calculate(parcel: Parcel, rule: WeightRule): Calculation {
  const units = ruleUnits[rule.unit];
  const round = roundings[rule.sideRounding];
  const side = (value: Fraction): Fraction => round(toLength(value, parcel.lengthUnit, units.length));
  const [length, width, height] = parcel.sides;
  const sides = [side(length), side(width), side(height)] as const;
  const [first, second, third] = sides;
  const volume = times(times(first, second), third);
  const isCounted = compare(volume, fraction(rule.threshold)) > 0;
  const dimensional = isCounted ? dividedBy(volume, fraction(rule.divisor)) : null;
  const { weight } = parcel;
  const actual = weight === null ? null : toWeight(weight.value, weight.unit, units.weight);
  return { rule, sides, volume, dimensional, actual, billed: billedOf(dimensional, actual, rule) };
}

const roundings: Readonly<Record<WeightRule["sideRounding"], (side: Fraction) => Fraction>> = {
  none: (side) => side,
  up: (side) => roundedUp(side, one),
  // A measured side takes up space, however short it is.
  nearest: (side) => greaterOf(roundedToNearest(side, one), one),
};

function billedOf(
  dimensional: Fraction | null,
  actual: Fraction | null,
  rule: WeightRule,
): Calculation["billed"] {
  const minimum = fraction(rule.minimum);
  const weights: readonly (readonly [Basis, Fraction | null])[] = [
    ["actual", actual && weightStep(actual, rule)],
    ["dimensional", dimensional && weightStep(dimensional, rule)],
    ["minimum", minimum.numerator > 0n ? minimum : null],
  ];
  let billed: Calculation["billed"] = null;
  for (const [basis, weight] of weights) {
    if (weight !== null && (billed === null || compare(weight, billed.weight) > 0)) {
      billed = { weight, basis };
    }
  }
  return billed;
}

/** Rounds a weight up as the rule requires. */
export function weightStep(weight: Fraction, { productRounding }: WeightRule): Fraction {
  const step = fraction(productRounding);
  return roundedUp(weight, step.numerator > 0n ? step : thousandth);
}
