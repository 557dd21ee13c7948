/** Each unit of length in millimetres, as exact decimal numbers. */
export const millimeters = { mm: "1", cm: "10", m: "1000", in: "25.4", ft: "304.8" } as const;

/** Each unit of weight in grams, as exact decimal numbers. */
export const grams = { g: "1", kg: "1000", oz: "28.349523125", lb: "453.59237" } as const;

export type LengthUnit = keyof typeof millimeters;
export type WeightUnit = keyof typeof grams;

export const lengthUnits: readonly string[] = Object.keys(millimeters);
export const weightUnits: readonly string[] = Object.keys(grams);

/** Other spellings of units of length by devices, scales and people. */
const otherLengths = {
  inch: "in",
  inches: "in",
  '"': "in",
  foot: "ft",
  feet: "ft",
  мм: "mm",
  см: "cm",
  м: "m",
  毫米: "mm",
  厘米: "cm",
  公分: "cm",
  センチ: "cm",
} as const;

/** The same of weight. */
const otherWeights = {
  lbs: "lb",
  pound: "lb",
  pounds: "lb",
  kgs: "kg",
  ounce: "oz",
  ounces: "oz",
  кг: "kg",
  г: "g",
  公斤: "kg",
  千克: "kg",
  克: "g",
  キロ: "kg",
  グラム: "g",
} as const;

/** All spellings, in small letters. */
export const lengthNames: readonly string[] = [...lengthUnits, ...Object.keys(otherLengths)];
export const weightNames: readonly string[] = [...weightUnits, ...Object.keys(otherWeights)];

/** Null if the unit is not known. */
export function readLengthUnit(given: unknown): LengthUnit | null {
  const name = nameOf(given);
  const unit = isKeyOf(otherLengths, name) ? otherLengths[name] : name;
  return isKeyOf(millimeters, unit) ? unit : null;
}

/** Null if the unit is not known. */
export function readWeightUnit(given: unknown): WeightUnit | null {
  const name = nameOf(given);
  const unit = isKeyOf(otherWeights, name) ? otherWeights[name] : name;
  return isKeyOf(grams, unit) ? unit : null;
}

function nameOf(given: unknown): string {
  return typeof given === "string" ? given.trim().toLowerCase() : "";
}

function isKeyOf<T extends object>(table: T, name: string): name is string & keyof T {
  return Object.keys(table).includes(name);
}
