import { grams, millimeters, type LengthUnit, type WeightUnit } from "../../rules/units.ts";
import { dividedBy, fraction, times, type Fraction } from "./fraction.ts";

export function toLength(value: Fraction, from: LengthUnit, to: LengthUnit): Fraction {
  return dividedBy(times(value, fraction(millimeters[from])), fraction(millimeters[to]));
}

export function toWeight(value: Fraction, from: WeightUnit, to: WeightUnit): Fraction {
  return dividedBy(times(value, fraction(grams[from])), fraction(grams[to]));
}
