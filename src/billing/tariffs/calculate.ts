import { type Problem, problem } from "../../rules/problem.ts";
import { type LengthUnit, type WeightUnit, readLengthUnit, readWeightUnit } from "../../rules/units.ts";
import {
  type Fraction,
  type Size,
  type WeightLimit,
  type WeightRule,
  compare,
  dividedBy,
  fraction,
  greaterOf,
  isTwoWays,
  one,
  plus,
  readFraction,
  roundedToNearest,
  roundedUp,
  ruleUnits,
  sizes,
  times,
  toDecimal,
  toLength,
  toWeight,
  withPoint,
} from "./rule.ts";

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
  /** The limits with the parcel's values, of its sides as the rule has rounded them up, and as they are otherwise. */
  readonly checked: readonly CheckedLimit[];
  /** The billed weight; null if there is neither a dimensional nor an actual weight, nor a least one. */
  readonly billed: {
    readonly weight: Fraction;
    readonly basis: Basis;
    /** The limit that sets the least weight; null if the rule does, or if it is not billed. */
    readonly minimumFrom: string | null;
  } | null;
}

/** Which weight is billed; if two are equal after rounding up, the actual one. */
export type Basis = "actual" | "dimensional" | "minimum";

const thousandth = fraction("0.001");

/**
 * Calculates the billable weight: every number stays exact, and each is rounded at most once. A limit can set a least weight for
 * the parcels that are over it.
 */
export function calculate(
  parcel: Parcel,
  rule: WeightRule,
  limits: readonly WeightLimit[] = [],
): Calculation {
  const units = ruleUnits[rule.unit];
  const round = roundings[rule.sideRounding];
  const measured = parcel.sides.map((value) => toLength(value, parcel.lengthUnit, units.length));
  const [length = one, width = one, height = one] = measured;
  const sides = [round(length), round(width), round(height)] as const;
  const [first, second, third] = sides;
  const volume = times(times(first, second), third);
  const isCounted = compare(volume, fraction(rule.threshold)) > 0;
  const dimensional = isCounted ? dividedBy(volume, fraction(rule.divisor)) : null;
  const { weight } = parcel;
  const actual = weight === null ? null : toWeight(weight.value, weight.unit, units.weight);
  // A side that was rounded down is over a limit all the same.
  const longer = sides.map((side, index) => greaterOf(side, measured[index] ?? side));
  const checked = checkLimits(rule, longer, actual, limits);
  const billed = billedOf(dimensional, actual, rule, checked);
  return { rule, sides, volume, dimensional, actual, checked, billed };
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
  checked: readonly CheckedLimit[],
): Calculation["billed"] {
  const minimum = fraction(rule.minimum);
  const unit = ruleUnits[rule.unit].weight;
  const weights: readonly (readonly [Basis, Fraction | null, string?])[] = [
    ["actual", actual && weightStep(actual, rule)],
    ["dimensional", dimensional && weightStep(dimensional, rule)],
    ["minimum", minimum.numerator > 0n ? minimum : null],
    ...checked.flatMap(({ limit: { name, minimum: least }, isOver }) =>
      least === undefined || isOver !== true
        ? []
        : [["minimum", weightStep(toWeight(fraction(least.value), least.unit, unit), rule), name] as const],
    ),
  ];
  let billed: Calculation["billed"] = null;
  for (const [basis, weight, minimumFrom = null] of weights) {
    if (weight !== null && (billed === null || compare(weight, billed.weight) > 0)) {
      billed = { weight, basis, minimumFrom };
    }
  }
  return billed;
}

/** Rounds a weight up as the rule requires. */
export function weightStep(weight: Fraction, { productRounding }: WeightRule): Fraction {
  const step = fraction(productRounding);
  return roundedUp(weight, step.numerator > 0n ? step : thousandth);
}

/** The words of an explanation. */
export interface Words {
  number(decimal: string): string;
  upTo(weight: string): string;
  actual(weight: string): string;
  notOver(volume: string): string;
  atLeast(weight: string): string;
}

export const english: Words = {
  number: (decimal) => decimal,
  upTo: (weight) => `rounded up to ${weight}`,
  actual: (weight) => `actual weight ${weight}`,
  notOver: (volume) => `not over ${volume}`,
  atLeast: (weight) => `at least ${weight}`,
};

/** Explains how the weight was calculated: "12 × 9 × 7 in = 756 in³, ÷ 139 = 5.44, rounded up to 6 lb". */
export function explain(calculation: Calculation, words: Words): string {
  const { rule, sides, volume, dimensional, actual, billed } = calculation;
  const { length, weight: unit } = ruleUnits[rule.unit];
  const basis = billed?.basis;
  const product = sides.map((side) => words.number(toDecimal(side, 3))).join(" × ");
  const cube = `${product} ${length} = ${words.number(toDecimal(volume, 2))} ${length}³`;

  /** Shows a weight and, if it is the billed one, how it is rounded up. */
  const weigh = (weight: Fraction, isBilled: boolean): string => {
    const up = weightStep(weight, rule);
    return !isBilled || compare(weight, up) === 0
      ? `${words.number(toDecimal(weight, isBilled ? 4 : 2))} ${unit}`
      : `${words.number(shownBelow(weight, up, rule))}, ${words.upTo(`${words.number(toDecimal(up, 4))} ${unit}`)}`;
  };
  const bySize =
    dimensional === null
      ? words.notOver(words.number(rule.threshold))
      : `÷ ${words.number(rule.divisor)} = ${weigh(dimensional, basis === "dimensional")}`;
  return [
    `${cube}, ${bySize}`,
    ...(actual === null || basis === "dimensional" ? [] : [words.actual(weigh(actual, basis === "actual"))]),
    ...(billed?.basis === "minimum"
      ? [
          `${words.atLeast(`${words.number(toDecimal(billed.weight, 4))} ${unit}`)}${because(billed.minimumFrom)}`,
        ]
      : []),
  ].join("; ");
}

function because(limit: string | null): string {
  return limit === null ? "" : ` (${limit})`;
}

/**
 * Shows a weight with as many decimals, at least two, as are needed for the shown number to be rounded up to the same
 * weight.
 */
function shownBelow(weight: Fraction, up: Fraction, rule: WeightRule): string {
  const shown = [2, 3, 4, 5, 6].map((decimals) => toDecimal(weight, decimals));
  const isBelow = (text: string) => compare(fraction(text), up) < 0;
  const leadsUp = (text: string) => compare(weightStep(fraction(text), rule), up) === 0;
  return shown.find((text) => isBelow(text) && leadsUp(text)) ?? toDecimal(weight, 12);
}

/** A limit and the parcel's value. */
export interface CheckedLimit {
  readonly limit: WeightLimit;
  /** The value in the limit's unit; null if the parcel's weight is not known, and so whether it is over the limit. */
  readonly value: Fraction | null;
  readonly isOver: boolean | null;
}

const most = 50;

/**
 * Reads limits as people write them, separated by semicolons or lines: "heavy: weight > 31.5 kg; large: longest > 96
 * in, at least 90 lb". Returns what is wrong with them if they are not valid.
 */
export function readLimits(
  given: string,
): { readonly limits: readonly WeightLimit[] } | { readonly problem: Problem } {
  const texts = given
    .split(/[;\n]/)
    .map((text) => text.trim())
    .filter((text) => text !== "");
  if (texts.length > most) {
    return { problem: problem("limitsMany", { most }) };
  }
  const limits: WeightLimit[] = [];
  for (const text of texts) {
    const limit = readLimit(text);
    if (limit === null) {
      const unclear = text
        .slice(text.indexOf(":"))
        .match(/[\d.,]+/g)
        ?.find(isTwoWays);
      return {
        problem:
          unclear === undefined
            ? problem("limitForm", { value: text.slice(0, 60) })
            : problem("numberComma", { value: unclear }),
      };
    }
    limits.push(limit);
  }
  return { limits };
}

function readLimit(text: string): WeightLimit | null {
  const [, name = "", word = "", limit = "", symbol = "", value, weightSymbol = ""] =
    /^([^:]{1,60}):\s*([a-z]+)\s*>\s*([\d.,]{1,20})\s*([a-z"]+)[³3]?(?:\s*,\s*at\s+least\s+([\d.,]{1,20})\s*([a-z]+))?$/i.exec(
      text,
    ) ?? [];
  const weightUnit = readWeightUnit(weightSymbol);
  if (
    readFraction(limit) === null ||
    (value !== undefined && (readFraction(value) === null || weightUnit === null))
  ) {
    return null;
  }
  const least =
    value === undefined || weightUnit === null
      ? {}
      : { minimum: { value: withPoint(value), unit: weightUnit } };
  const known = { name: name.trim(), limit: withPoint(limit), ...least };
  const quantity = word.toLowerCase();
  if (quantity === "weight") {
    const unit = readWeightUnit(symbol);
    return unit && { ...known, quantity, unit };
  }
  const unit = readLengthUnit(symbol);
  const size = sizes.find((one) => one === quantity);
  return size === undefined ? null : unit && { ...known, quantity: size, unit };
}

/** Compares a parcel with limits in any units. */
function checkLimits(
  rule: WeightRule,
  sides: readonly Fraction[],
  actual: Fraction | null,
  limits: readonly WeightLimit[],
): CheckedLimit[] {
  const from = ruleUnits[rule.unit];
  return limits.map((limit) => {
    const value =
      limit.quantity === "weight"
        ? actual && toWeight(actual, from.weight, limit.unit)
        : sizeOf(
            limit.quantity,
            sides.map((side) => toLength(side, from.length, limit.unit)),
          );
    return { limit, value, isOver: value && compare(value, fraction(limit.limit)) > 0 };
  });
}

function sizeOf(size: Size, sides: readonly Fraction[]): Fraction {
  const [longest = one, second = one, shortest = one] = [...sides].sort((a, b) => compare(b, a));
  const others = plus(second, shortest);
  const values: Readonly<Record<Size, Fraction>> = {
    volume: times(times(longest, second), shortest),
    longest,
    second,
    shortest,
    girth: plus(longest, plus(others, others)),
  };
  return values[size];
}

/** The unit of a limit and its value, as people write it. */
export function unitOf({ quantity, unit }: WeightLimit): string {
  return quantity === "volume" ? `${unit}³` : unit;
}
