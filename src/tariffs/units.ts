import { dividedBy, fraction, times, type Fraction } from "./fraction.ts";

export type LengthUnit = keyof typeof millimeters;
export type WeightUnit = keyof typeof grams;

const millimeters = {
  mm: fraction("1"),
  cm: fraction("10"),
  m: fraction("1000"),
  in: fraction("25.4"),
};

const grams = {
  g: fraction("1"),
  kg: fraction("1000"),
  oz: fraction("28.349523125"),
  lb: fraction("453.59237"),
};

export const lengthUnits = Object.keys(millimeters);
export const weightUnits = Object.keys(grams);

/** Other spellings of units by devices, scales and people. */
const otherNames: ReadonlyMap<string, string> = new Map([
  ["inch", "in"],
  ["inches", "in"],
  ['"', "in"],
  ["lbs", "lb"],
  ["kgs", "kg"],
  ["ounce", "oz"],
  ["ounces", "oz"],
  ["pound", "lb"],
  ["pounds", "lb"],
]);

/** Null if the unit is not known. */
export function readLengthUnit(given: unknown): LengthUnit | null {
  const name = symbolOf(given);
  return isKeyOf(millimeters, name) ? name : null;
}

/** Null if the unit is not known. */
export function readWeightUnit(given: unknown): WeightUnit | null {
  const name = symbolOf(given);
  return isKeyOf(grams, name) ? name : null;
}

function symbolOf(given: unknown): string {
  const name = typeof given === "string" ? given.trim().toLowerCase() : "";
  return otherNames.get(name) ?? name;
}

function isKeyOf<T extends object>(table: T, name: string): name is string & keyof T {
  return Object.keys(table).includes(name);
}

export function toLength(value: Fraction, from: LengthUnit, to: LengthUnit): Fraction {
  return dividedBy(times(value, millimeters[from]), millimeters[to]);
}

export function toWeight(value: Fraction, from: WeightUnit, to: WeightUnit): Fraction {
  return dividedBy(times(value, grams[from]), grams[to]);
}
