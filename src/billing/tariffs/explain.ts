import { weightStep, type Calculation } from "./calculate.ts";
import { compare, fraction, toDecimal, type Fraction } from "./fraction.ts";
import { ruleUnits, type WeightRule } from "./rule.ts";

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
    ...(basis === "minimum" ? [words.atLeast(`${words.number(rule.minimum)} ${unit}`)] : []),
  ].join("; ");
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
