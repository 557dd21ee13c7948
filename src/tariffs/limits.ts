import { problem, type Problem } from "../rules/problem.ts";
import type { Calculation } from "./calculate.ts";
import { compare, exact, one, plus, readExact, times, type Exact } from "./exact.ts";
import { ruleUnits, sizes, type Size, type WeightLimit } from "./rule.ts";
import { readLengthUnit, readWeightUnit, toLength, toWeight } from "./units.ts";

/** Where a parcel stands with regard to a limit. */
export interface CheckedLimit {
  readonly limit: WeightLimit;
  /** In the limit's unit; null where the parcel's weight is not known, and so whether it is over. */
  readonly value: Exact | null;
  readonly isOver: boolean | null;
}

const most = 50;

/**
 * Reads limits as people write them, separated by semicolons or lines: "heavy: weight > 31.5 kg; long: longest > 120 cm".
 * Or says what is wrong with them.
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
  if (readExact(limit) === null) {
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

/** Compares a parcel, with its sides as the rule has rounded them, with limits in whichever units. */
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
    return { limit, value, isOver: value && compare(value, exact(limit.limit)) > 0 };
  });
}

function sizeOf(size: Size, sides: readonly Exact[]): Exact {
  const [longest = one, second = one, shortest = one] = [...sides].sort((a, b) => compare(b, a));
  const others = plus(second, shortest);
  const values: Readonly<Record<Size, Exact>> = {
    volume: times(times(longest, second), shortest),
    longest,
    second,
    shortest,
    girth: plus(longest, plus(others, others)),
  };
  return values[size];
}

/** The unit that a limit and its value are in, as people write it. */
export function unitOf({ quantity, unit }: WeightLimit): string {
  return quantity === "volume" ? `${unit}³` : unit;
}
