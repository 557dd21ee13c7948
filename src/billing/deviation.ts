import type { LabelDeviation } from "../model/shapes.ts";
import { compare, dividedBy, exact, minus, readExact, times, toDecimal, toNumber } from "../tariffs/exact.ts";
import type { Exact } from "../tariffs/exact.ts";
import { readLengthUnit, toLength, toWeight } from "../tariffs/units.ts";
import { fieldsOf, readWeight, type Measured, type Weight } from "./measured.ts";

/** What the label of a parcel says of it: `labelWeight` and `labelDims` of a scan. */
export interface Label {
  readonly weight: Weight | null;
  readonly sides: readonly Exact[] | null;
  readonly sidesUnit: "cm" | "in";
}

/** Reads what a scan says of the label; whatever else it may hold is not looked at. */
export function readLabel(scan: unknown): Label {
  const { labelWeight, labelDims } = fieldsOf(scan) ?? {};
  const { weight, unit } = fieldsOf(labelWeight) ?? {};
  const { length, width, height, unit: sidesUnit } = fieldsOf(labelDims) ?? {};
  const sides = [length, width, height].map(readExact).filter((side) => side !== null);
  const known = readLengthUnit(sidesUnit);
  return {
    weight: readWeight(weight, unit),
    sides: sides.length === 3 && (known === "cm" || known === "in") ? sides : null,
    sidesUnit: known === "in" ? "in" : "cm",
  };
}

/** How far the measurement is from what the label says, in the label's units; null where the label says nothing of it. */
export function deviationOf({ sides, lengthUnit, weight }: Measured, label: Label): LabelDeviation | null {
  const { sidesUnit } = label;
  const weights =
    label.weight === null || weight === null
      ? null
      : {
          ...difference(toWeight(weight.value, weight.unit, label.weight.unit), label.weight.value),
          unit: label.weight.unit,
        };
  // A parcel lies on the table as it comes: the longest side is compared with the longest one.
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

function longestFirst(sides: readonly Exact[]): Exact[] {
  return sides.toSorted((a, b) => compare(b, a));
}

/** The percentage is null where the label says 0. */
function difference(measured: Exact, label: Exact) {
  const more = minus(measured, label);
  return {
    label: toNumber(label),
    measured: toNumber(measured),
    difference: toNumber(more),
    percent:
      label.numerator === 0n ? null : Number(toDecimal(times(dividedBy(more, label), exact("100")), 1)),
  };
}
