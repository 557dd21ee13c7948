import type { LabelDeviation } from "../model/shapes.ts";
import {
  compare,
  dividedBy,
  fraction,
  minus,
  readFraction,
  times,
  toDecimal,
  toNumber,
} from "./tariffs/fraction.ts";
import type { Fraction } from "./tariffs/fraction.ts";
import { readLengthUnit } from "../rules/units.ts";
import { toLength, toWeight } from "./tariffs/units.ts";
import { fieldsOf } from "../model/containers.ts";
import { readWeight, type MeasuredParcel, type Weight } from "./measured-parcel.ts";

/** The weight and the size that the label states: `labelWeight` and `labelDims` of a scan. */
export interface Label {
  readonly weight: Weight | null;
  readonly sides: readonly Fraction[] | null;
  readonly sidesUnit: "cm" | "in";
}

/** Reads the label's weight and size from a scan; its other fields are ignored. */
export function readLabel(scan: unknown): Label {
  const { labelWeight, labelDims } = fieldsOf(scan) ?? {};
  const { weight, unit } = fieldsOf(labelWeight) ?? {};
  const { length, width, height, unit: sidesUnit } = fieldsOf(labelDims) ?? {};
  const sides = [length, width, height].map(readFraction).filter((side) => side !== null);
  const known = readLengthUnit(sidesUnit);
  return {
    weight: readWeight(weight, unit),
    sides: sides.length === 3 && (known === "cm" || known === "in") ? sides : null,
    sidesUnit: known === "in" ? "in" : "cm",
  };
}

/**
 * The differences between the measurement and the label, in the label's units; null if the label states neither size
 * nor weight.
 */
export function deviationOf(
  { sides, lengthUnit, weight }: MeasuredParcel,
  label: Label,
): LabelDeviation | null {
  const { sidesUnit } = label;
  const weights =
    label.weight === null || weight === null
      ? null
      : {
          ...difference(toWeight(weight.value, weight.unit, label.weight.unit), label.weight.value),
          unit: label.weight.unit,
        };
  // A parcel can lie on the table in any position, so the longest side is compared with the longest one, and so on.
  const measured = longestFirst(sides.map((side) => toLength(side, lengthUnit, sidesUnit)));
  const stated = label.sides === null ? null : longestFirst(label.sides);
  const bySide = stated?.map((side, index) => difference(measured[index] ?? side, side));
  return weights === null && bySide === undefined
    ? null
    : {
        weight: weights,
        sides: bySide === undefined ? null : bySide.map((one) => ({ ...one, unit: sidesUnit })),
      };
}

function longestFirst(sides: readonly Fraction[]): Fraction[] {
  return sides.toSorted((a, b) => compare(b, a));
}

/** The percentage is null where the label says 0. */
function difference(measured: Fraction, label: Fraction) {
  const more = minus(measured, label);
  return {
    label: toNumber(label),
    measured: toNumber(measured),
    difference: toNumber(more),
    percent:
      label.numerator === 0n ? null : Number(toDecimal(times(dividedBy(more, label), fraction("100")), 1)),
  };
}
