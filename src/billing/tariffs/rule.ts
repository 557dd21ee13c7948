import { type LengthUnit, type WeightUnit, grams, millimeters } from "../../rules/units.ts";

/** The units that a rule calculates in: cubic centimeters for a kilogram, or cubic inches for a pound. */
export const ruleUnits = {
  "cm-kg": { length: "cm", weight: "kg" },
  "in-lb": { length: "in", weight: "lb" },
} as const satisfies Record<string, { readonly length: LengthUnit; readonly weight: WeightUnit }>;

export type RuleUnit = keyof typeof ruleUnits;

export const sideRoundings = ["none", "up", "nearest"] as const;

/** How a carrier calculates the billed weight from the size and the weight of a parcel. Decimal numbers are text. */
export interface WeightRule {
  readonly unit: RuleUnit;
  /** The volume is divided by it. */
  readonly divisor: string;
  /** How each side is rounded to a whole inch or centimeter before it is used. */
  readonly sideRounding: (typeof sideRoundings)[number];
  /** The weight is rounded up to a multiple of it; 0: to the thousandth, so to the gram. */
  readonly productRounding: string;
  /** Only a volume above it counts; 0: every volume does. */
  readonly threshold: string;
  /** The least weight that is billed. */
  readonly minimum: string;
}

/** The sizes for which carriers set limits: `girth` is the longest side plus twice the two others. */
export const sizes = ["volume", "longest", "second", "shortest", "girth"] as const;

export type Size = (typeof sizes)[number];

/**
 * A limit above which a carrier adds a surcharge; a parcel exactly at the limit is not over it. A volume is limited in
 * cubes of the unit.
 */
export type WeightLimit = (
  | { readonly quantity: Size; readonly unit: LengthUnit }
  | { readonly quantity: "weight"; readonly unit: WeightUnit }
) & {
  readonly name: string;
  readonly limit: string;
  /** The least weight that is billed of a parcel over the limit. */
  readonly minimum?: { readonly value: string; readonly unit: WeightUnit };
};

export function toLength(value: Fraction, from: LengthUnit, to: LengthUnit): Fraction {
  return dividedBy(times(value, fraction(millimeters[from])), fraction(millimeters[to]));
}

export function toWeight(value: Fraction, from: WeightUnit, to: WeightUnit): Fraction {
  return dividedBy(times(value, fraction(grams[from])), fraction(grams[to]));
}

/**
 * A number without any rounding, as a fraction of two integers: a parcel exactly at a limit must not be over it because
 * of the sixteenth digit of a floating-point number. 33.02 cm are 13 inches, but 33.02 / 2.54 is 13.000000000000002.
 */
export interface Fraction {
  readonly numerator: bigint;
  /** Greater than 0. */
  readonly denominator: bigint;
}

const mostCharacters = 40;

export const one: Fraction = { numerator: 1n, denominator: 1n };

/** A comma that may as well separate thousands. */
const twoWays = /^[+-]?[1-9]\d{0,2},\d{3}$/;

/** Whether a text is a number that can be read in two ways. */
export function isTwoWays(text: string): boolean {
  return twoWays.test(text);
}

/**
 * Reads a decimal number as people, flows and devices write it, "33.02", "33,02", ".5" or 33.02; null if it is not one, or if it can be
 * read in two ways, as "1,234".
 */
export function readFraction(given: unknown): Fraction | null {
  const text = typeof given === "number" ? decimalOf(given) : typeof given === "string" ? given.trim() : "";
  return text.length > mostCharacters || isTwoWays(text) ? null : fractionOf(text);
}

function fractionOf(text: string): Fraction | null {
  const [whole, sign = "", integer = "", fraction = "", exponent = "0"] =
    /^([+-]?)(\d+|(?=[.,]))(?:[.,](\d+))?(?:e([+-]?\d{1,2}))?$/i.exec(text) ?? [];
  if (whole === undefined) {
    return null;
  }
  const digits = BigInt(`${sign}${integer}${fraction}`);
  const power = Number(exponent) - fraction.length;
  return power >= 0
    ? { numerator: digits * 10n ** BigInt(power), denominator: 1n }
    : { numerator: digits, denominator: 10n ** BigInt(-power) };
}

/** A number of a setting or of a table of one's own, as the sources write it. */
export function withPoint(number: number | string): string {
  return String(number).trim().replace(",", ".");
}

/** A number that is written in the sources, or was calculated, and may have any length. */
export function fraction(text: string): Fraction {
  const value = fractionOf(text);
  if (value === null) {
    throw new RangeError(`${text} is not a decimal number.`);
  }
  return value;
}

/**
 * The decimal number that a floating-point number stands for: calculations leave noise behind the fifteenth digit, and
 * a single-precision number, which some devices send, looks like 33.02000045776367.
 */
function decimalOf(value: number): string {
  if (!Number.isFinite(value)) {
    return "";
  }
  const rounded = Number(value.toPrecision(15));
  const ofSingle = Number(value.toPrecision(7));
  const isNoisy = String(rounded).replace(/\D/g, "").length > 9;
  return String(isNoisy && Math.fround(ofSingle) === value ? ofSingle : rounded);
}

export function times(a: Fraction, b: Fraction): Fraction {
  return { numerator: a.numerator * b.numerator, denominator: a.denominator * b.denominator };
}

/** `b` is greater than 0. */
export function dividedBy(a: Fraction, b: Fraction): Fraction {
  return { numerator: a.numerator * b.denominator, denominator: a.denominator * b.numerator };
}

export function plus(a: Fraction, b: Fraction): Fraction {
  return {
    numerator: a.numerator * b.denominator + b.numerator * a.denominator,
    denominator: a.denominator * b.denominator,
  };
}

export function minus(a: Fraction, b: Fraction): Fraction {
  return plus(a, { numerator: -b.numerator, denominator: b.denominator });
}

/** Less than 0, 0 or greater than 0, as for a sort. */
export function compare(a: Fraction, b: Fraction): number {
  const difference = minus(a, b).numerator;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

export function greaterOf(a: Fraction, b: Fraction): Fraction {
  return compare(a, b) >= 0 ? a : b;
}

/** The next multiple of `step` that is not below the value. */
export function roundedUp(value: Fraction, step: Fraction): Fraction {
  return toMultiple(value, step, (numerator, denominator) => -floor(-numerator, denominator));
}

/** The nearest multiple of `step`; the upper one from the middle on. */
export function roundedToNearest(value: Fraction, step: Fraction): Fraction {
  return toMultiple(value, step, (numerator, denominator) =>
    floor(2n * numerator + denominator, 2n * denominator),
  );
}

function toMultiple(
  value: Fraction,
  step: Fraction,
  round: (numerator: bigint, denominator: bigint) => bigint,
): Fraction {
  const { numerator, denominator } = dividedBy(value, step);
  return times({ numerator: round(numerator, denominator), denominator: 1n }, step);
}

/** BigInt divides toward 0. */
function floor(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator;
  return numerator < 0n && quotient * denominator !== numerator ? quotient - 1n : quotient;
}

/** How many digits are behind the point, up to four. */
export function decimalsOf(value: Fraction): number {
  return toDecimal(value, 4).split(".")[1]?.length ?? 0;
}

/** As a decimal number with at most so many decimals, rounded to the nearest, without zeros at the end. */
export function toDecimal(value: Fraction, decimals: number): string {
  const scale = 10n ** BigInt(decimals);
  const { numerator } = roundedToNearest(times(value, { numerator: scale, denominator: 1n }), one);
  const digits = (numerator < 0n ? -numerator : numerator).toString().padStart(decimals + 1, "0");
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  const integer = digits.slice(0, digits.length - decimals);
  return `${numerator < 0n ? "-" : ""}${integer}${fraction === "" ? "" : `.${fraction}`}`;
}

/** As a number of JavaScript, for messages: the nearest to the value with at most four decimals. */
export function toNumber(value: Fraction): number {
  return Number(toDecimal(value, 4));
}
