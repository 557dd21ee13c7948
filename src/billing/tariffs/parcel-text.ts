import { readLengthUnit, readWeightUnit } from "../../rules/units.ts";
import type { Parcel } from "./calculate.ts";
import { readFraction } from "./rule.ts";

/**
 * Reads a parcel as people write it, "40 × 30 × 20 cm, 2 kg", with or without a weight; null if the text is not a
 * parcel.
 */
export function readParcelText(text: string): Parcel | null {
  const number = String.raw`(\d+(?:[.,]\d+)?)`;
  const form = new RegExp(
    `^\\s*${number}\\s*[x×*]\\s*${number}\\s*[x×*]\\s*${number}\\s*([a-z"]+)(?:\\s*[,;]?\\s+${number}\\s*([a-z]+))?\\s*$`,
    "i",
  );
  const [, length, width, height, lengthSymbol, weight, weightSymbol] = form.exec(text.slice(0, 200)) ?? [];
  const [first, second, third] = [length, width, height].map(readPositive);
  const lengthUnit = readLengthUnit(lengthSymbol);
  if (!first || !second || !third || lengthUnit === null) {
    return null;
  }
  const sides = [first, second, third] as const;
  if (weight === undefined) {
    return { sides, lengthUnit, weight: null };
  }
  const value = readPositive(weight);
  const unit = readWeightUnit(weightSymbol);
  return value === null || unit === null ? null : { sides, lengthUnit, weight: { value, unit } };
}

function readPositive(text: string | undefined) {
  const value = readFraction(text);
  return value !== null && value.numerator > 0n ? value : null;
}
