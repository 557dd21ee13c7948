import { lengthNames, weightNames } from "../rules/units.ts";
import { grams, millimetres } from "../vault/packages/indexed-size.ts";

/** Whole millimetres or grams; both ends belong to it. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** A size to look up: the sides, the longest first, and the weight. */
export interface SoughtSize {
  readonly sides: readonly [Range, Range, Range] | null;
  readonly weight: Range | null;
}

const number = String.raw`(\d{1,6}(?:[.,]\d{1,3})?)`;
const by = String.raw`\s*[x×*]\s*`;
const [lengthUnit, weightUnit] = [lengthNames.join("|"), weightNames.join("|")];
const sizePattern = new RegExp(`^${number}${by}${number}${by}${number}\\s*(${lengthUnit})?$`, "i");
const weightPattern = new RegExp(`^${number}\\s*(${weightUnit})$`, "i");
const bothPattern = new RegExp(String.raw`^(.+?)[,;\s]+(\d[\d.,]*\s*(?:${weightUnit}))$`, "i");
/** No size is longer; in a longer text, where the weight begins takes a time that grows with the square of the length. */
const longestSize = 100;
/** Without a unit, people mean the one of their device. */
const usualUnits = ["cm", "in"] as const;
/** The largest tolerances: a size of 1 m or 1 lb is meant more exactly than to a whole unit. */
const mostMm = 25;
const mostGrams = 500;

/**
 * Reads a size as people write it: `33.5 × 21 × 12.5 cm`, `33x21x12`, `1.27 kg`, or both with a comma or a space between them.
 * Each number is as exact as it is written: 33 finds 32 to 34, and 33.5 finds 33.4 to 33.6. Without a unit, it is a size in
 * centimetres or in inches. Undefined for anything else.
 */
export function readSize(text: string): readonly SoughtSize[] | undefined {
  const trimmed = text.trim();
  if (trimmed.length > longestSize) {
    return undefined;
  }
  const alone = readWeight(trimmed);
  if (alone !== null) {
    return [{ sides: null, weight: alone }];
  }
  const [, size = trimmed, weighs = ""] = bothPattern.exec(trimmed) ?? [];
  const weight = readWeight(weighs);
  const sizes = readSides(size).map((sides) => ({ sides, weight }));
  return sizes.length === 0 ? undefined : sizes;
}

/** The sides in each unit that may be meant. */
function readSides(text: string): (readonly [Range, Range, Range])[] {
  const [, one = "", other = "", third = "", unit] = sizePattern.exec(text) ?? [];
  if (third === "") {
    return [];
  }
  return (unit === undefined ? usualUnits : [unit]).map((name) => {
    const [longest, middle, shortest] = [one, other, third]
      .map(readNumber)
      .toSorted((a, b) => b.value - a.value)
      .map((side) => rangeOf(side, (value) => millimetres(value, name) ?? 0, mostMm));
    return [longest ?? nothing, middle ?? nothing, shortest ?? nothing] as const;
  });
}

const nothing: Range = { from: 0, to: 0 };

function readWeight(text: string): Range | null {
  const [, value = "", unit = ""] = weightPattern.exec(text) ?? [];
  return value === "" ? null : rangeOf(readNumber(value), (one) => grams(one, unit) ?? 0, mostGrams);
}

interface Written {
  readonly value: number;
  /** One unit of its last digit. */
  readonly step: number;
}

function readNumber(text: string): Written {
  const [, decimals = ""] = /[.,](\d+)$/.exec(text) ?? [];
  return { value: Number(text.replace(",", ".")), step: 10 ** -decimals.length };
}

function rangeOf({ value, step }: Written, convert: (value: number) => number, most: number): Range {
  const [middle, tolerance] = [convert(value), Math.min(convert(step), most)];
  // The index has whole numbers, and binary fractions differ a little from the decimal ones.
  return { from: Math.round(middle - tolerance), to: Math.round(middle + tolerance) };
}
