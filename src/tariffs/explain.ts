import { weightStep, type Calculation } from "./calculate.ts";
import { compare, exact, toDecimal, type Exact } from "./exact.ts";
import { ruleUnits, type WeightRule } from "./rule.ts";

/** What an explanation says beside numbers, units and signs. */
export interface Words {
  number(decimal: string): string;
  upTo(weight: string): string;
  actual(weight: string): string;
  notOver(volume: string): string;
  atLeast(weight: string): string;
}

export const english: Words = {
  number: (decimal) => decimal,
  upTo: (weight) => `up to ${weight}`,
  actual: (weight) => `actual weight ${weight}`,
  notOver: (volume) => `not over ${volume}`,
  atLeast: (weight) => `at least ${weight}`,
};

/** How the weight was found: "12 × 9 × 7 in = 756 in³, ÷ 139 = 5.44, up to 6 lb". */
export function explain(calculation: Calculation, words: Words): string {
  const { rule, sides, volume, dimensional, actual, billed } = calculation;
  const { length, weight: unit } = ruleUnits[rule.unit];
  const basis = billed?.basis;
  const product = sides.map((side) => words.number(toDecimal(side, 3))).join(" × ");
  const cube = `${product} ${length} = ${words.number(toDecimal(volume, 2))} ${length}³`;

  /** A weight, and how it is rounded up where it is the one that is billed. */
  const weigh = (weight: Exact, isBilled: boolean): string => {
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

/** With as many decimals, two at least, as it takes for the number that is shown to be rounded up to the same weight. */
function shownBelow(weight: Exact, up: Exact, rule: WeightRule): string {
  const shown = [2, 3, 4, 5, 6].map((decimals) => toDecimal(weight, decimals));
  const isBelow = (text: string) => compare(exact(text), up) < 0;
  const leadsUp = (text: string) => compare(weightStep(exact(text), rule), up) === 0;
  return shown.find((text) => isBelow(text) && leadsUp(text)) ?? toDecimal(weight, 12);
}
