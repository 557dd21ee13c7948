import type { LengthUnit, WeightUnit } from "../../rules/units.ts";

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
};
