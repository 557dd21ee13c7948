import { problem, type Problem } from "../../rules/problem.ts";
import type { Calculation } from "./calculate.ts";
import { compare, fraction, one, plus, readFraction, times, type Fraction } from "./fraction.ts";
import { ruleUnits, sizes, type Size, type WeightLimit } from "./rule.ts";
import { readLengthUnit, readWeightUnit } from "../../rules/units.ts";
import { toLength, toWeight } from "./units.ts";

/** A limit and the parcel's value. */
export interface CheckedLimit {
  readonly limit: WeightLimit;
  /** The value in the limit's unit; null if the parcel's weight is not known, and so whether it is over the limit. */
  readonly value: Fraction | null;
  readonly isOver: boolean | null;
}

const most = 50;

/**
 * Reads limits as people write them, separated by semicolons or lines: "heavy: weight > 31.5 kg; long: longest > 120
 * cm". Returns what is wrong with them if they are not valid.
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
      return { problem: problem("limitForm", { value: text.slice(0, 60) }) };
    }
    limits.push(limit);
  }
  return { limits };
}

function readLimit(text: string): WeightLimit | null {
  const [, name = "", word = "", limit = "", symbol = ""] =
    /^([^:]{1,60}):\s*([a-z]+)\s*>\s*([\d.]{1,20})\s*([a-z"]+)[³3]?$/i.exec(text) ?? [];
  if (readFraction(limit) === null) {
    return null;
  }
  const known = { name: name.trim(), limit };
  const quantity = word.toLowerCase();
  if (quantity === "weight") {
    const unit = readWeightUnit(symbol);
    return unit && { ...known, quantity, unit };
  }
  const unit = readLengthUnit(symbol);
  const size = sizes.find((one) => one === quantity);
  return size === undefined ? null : unit && { ...known, quantity: size, unit };
}

/** Compares a parcel, with its sides as the rule has rounded them, with limits in any units. */
export function checkLimits(
  { rule, sides, actual }: Calculation,
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
