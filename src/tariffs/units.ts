import { dividedBy, exact, times, type Exact } from "./exact.ts";

export type LengthUnit = keyof typeof millimeters;
export type WeightUnit = keyof typeof grams;

const millimeters = {
  mm: exact("1"),
  cm: exact("10"),
  m: exact("1000"),
  in: exact("25.4"),
};

const grams = {
  g: exact("1"),
  kg: exact("1000"),
  oz: exact("28.349523125"),
  lb: exact("453.59237"),
};

export const lengthUnits = Object.keys(millimeters);
export const weightUnits = Object.keys(grams);

/** How devices, scales and people write some of them beside the symbol. */
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

/** Null where it is none that is known. */
export function readLengthUnit(given: unknown): LengthUnit | null {
  const name = symbolOf(given);
  return isKeyOf(millimeters, name) ? name : null;
}

/** Null where it is none that is known. */
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

export function toLength(value: Exact, from: LengthUnit, to: LengthUnit): Exact {
  return dividedBy(times(value, millimeters[from]), millimeters[to]);
}

export function toWeight(value: Exact, from: WeightUnit, to: WeightUnit): Exact {
  return dividedBy(times(value, grams[from]), grams[to]);
}
