import { grams, millimeters, readLengthUnit, readWeightUnit } from "../../rules/units.ts";
import type { Figures } from "./local-measurement.ts";

/** Weights are rounded once or twice on their way, in steps that are not documented. */
const weightToleranceKg = 0.05;
/** The difference that storing and calculating with binary fractions may cause. */
const noise = 1e-3;

interface Sides {
  readonly values: readonly number[];
  readonly unit: string;
  /** The step to which each side is rounded, in the unit. */
  readonly step: number;
  /** Null for a unit that is not known. */
  readonly cmPerUnit: number | null;
}

/** How well the dimensions of two measurements agree: `turned` if two sides are exchanged. */
export type Agreement = "same" | "turned" | "different" | "unknown";

/**
 * Compares dimensions. In the same unit they have to be equal, whatever unit that is; in two units each was rounded on
 * its own, and may be half a step of its own away from the true value. `isRounded` allows that in the same unit too, for
 * records that are known to belong together by other facts.
 */
export function compareSides(a: Figures, b: Figures, isRounded = false): Agreement {
  const [first, second] = [sidesOf(a), sidesOf(b)];
  if (first === null || second === null) {
    return "unknown";
  }
  const isSameUnit = first.unit === second.unit;
  if (!isSameUnit && (first.cmPerUnit === null || second.cmPerUnit === null)) {
    return "unknown";
  }
  const [perFirst, perSecond] = [first.cmPerUnit ?? 1, second.cmPerUnit ?? 1];
  const halfSteps = (first.step * perFirst + second.step * perSecond) / 2;
  const tolerance = (isSameUnit && !isRounded ? 0 : halfSteps) + noise;
  const areClose = (ones: readonly number[], others: readonly number[]): boolean =>
    ones.every((one, index) => Math.abs(one * perFirst - (others[index] ?? 0) * perSecond) <= tolerance);
  if (areClose(first.values, second.values)) {
    return "same";
  }
  return areClose(inOrder(first.values), inOrder(second.values)) ? "turned" : "different";
}

/** Whether two weights may be the same; also if one of them is not known, since a device without a scale sends 0. */
export function canWeighSame(a: Figures, b: Figures): boolean {
  const [first, second] = [kgOf(a), kgOf(b)];
  return first === null || second === null || Math.abs(first - second) <= weightToleranceKg;
}

function inOrder(sides: readonly number[]): number[] {
  return sides.toSorted((one, other) => one - other);
}

/** Returns null if there are no dimensions: a side is 0, or there is no unit. */
function sidesOf({ length, width, height, dimsUnit, step }: Figures): Sides | null {
  const known = readLengthUnit(dimsUnit);
  const unit = known ?? dimsUnit?.trim().toLowerCase() ?? "";
  const values = [length, width, height].filter((side): side is number => side !== null && side > 0);
  if (unit === "" || values.length < 3) {
    return null;
  }
  const cmPerUnit = known === null ? null : Number(millimeters[known]) / 10;
  return { values, unit, cmPerUnit, step: stepOf(values, step) };
}

/**
 * The device's step if the sides are multiples of it; if another unit or service has rounded them, their last decimal.
 */
function stepOf(values: readonly number[], given: number | null): number {
  const isMultiple = (value: number): boolean => {
    const steps = value / (given ?? 0);
    return Math.abs(steps - Math.round(steps)) < noise;
  };
  if (given !== null && given > 0 && values.every(isMultiple)) {
    return given;
  }
  const decimals = values.map((value) => /\.(\d+)$/.exec(String(value))?.[1]?.length ?? 0);
  return 10 ** -Math.max(...decimals);
}

function kgOf({ weight, weightUnit }: Figures): number | null {
  const unit = readWeightUnit(weightUnit);
  return weight === null || weight <= 0 || unit === null ? null : (weight * Number(grams[unit])) / 1_000;
}
