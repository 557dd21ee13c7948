import {
  compare,
  dividedBy,
  exact,
  greaterOf,
  one,
  roundedToNearest,
  roundedUp,
  times,
  type Exact,
} from "./exact.ts";
import { ruleUnits, type WeightRule } from "./rule.ts";
import { toLength, toWeight, type LengthUnit, type WeightUnit } from "./units.ts";

/** A parcel as it was measured. */
export interface Parcel {
  readonly sides: readonly [Exact, Exact, Exact];
  readonly lengthUnit: LengthUnit;
  /** Null where it is not known. */
  readonly weight: { readonly value: Exact; readonly unit: WeightUnit } | null;
}

/** What a rule makes of a parcel; lengths and weights are in the rule's units. */
export interface Calculation {
  readonly rule: WeightRule;
  /** In the order of the parcel, rounded as the rule wants it. */
  readonly sides: readonly [Exact, Exact, Exact];
  readonly volume: Exact;
  /** What the volume weighs, before it is rounded up; null where it is not above the threshold. */
  readonly dimensional: Exact | null;
  /** Before it is rounded up; null where it is not known. */
  readonly actual: Exact | null;
  /** What is billed; null where there is nothing to bill by. */
  readonly billed: { readonly weight: Exact; readonly basis: Basis } | null;
}

/** Which of the weights is billed; where two are the same after they were rounded up, the actual one. */
export type Basis = "actual" | "dimensional" | "minimum";

const thousandth = exact("0.001");

/** Works out the billable weight: every number stays exact, and each is rounded at most once. */
export function calculate(parcel: Parcel, rule: WeightRule): Calculation {
  const units = ruleUnits[rule.unit];
  const round = roundings[rule.sideRounding];
  const side = (value: Exact): Exact => round(toLength(value, parcel.lengthUnit, units.length));
  const [length, width, height] = parcel.sides;
  const sides = [side(length), side(width), side(height)] as const;
  const [first, second, third] = sides;
  const volume = times(times(first, second), third);
  const isCounted = compare(volume, exact(rule.threshold)) > 0;
  const dimensional = isCounted ? dividedBy(volume, exact(rule.divisor)) : null;
  const { weight } = parcel;
  const actual = weight === null ? null : toWeight(weight.value, weight.unit, units.weight);
  return { rule, sides, volume, dimensional, actual, billed: billedOf(dimensional, actual, rule) };
}

const roundings: Readonly<Record<WeightRule["sideRounding"], (side: Exact) => Exact>> = {
  none: (side) => side,
  up: (side) => roundedUp(side, one),
  // A side that was measured takes up space, however short it is.
  nearest: (side) => greaterOf(roundedToNearest(side, one), one),
};

function billedOf(dimensional: Exact | null, actual: Exact | null, rule: WeightRule): Calculation["billed"] {
  const minimum = exact(rule.minimum);
  const weights: readonly (readonly [Basis, Exact | null])[] = [
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

/** A weight rounded up as the rule wants it. */
export function weightStep(weight: Exact, { productRounding }: WeightRule): Exact {
  const step = exact(productRounding);
  return roundedUp(weight, step.numerator > 0n ? step : thousandth);
}
