import { cmPerUnit, kgPerUnit } from "../../model/units.ts";
import type { Figures } from "./local-measurement.ts";

/** Weights are rounded once or twice on their way, in steps that are not documented. */
const weightToleranceKg = 0.05;
/** The difference that storing and calculating with binary fractions may cause. */
const noise = 1e-3;

interface Sides {
  readonly sidesCm: readonly number[];
  readonly unit: string;
  /** The step to which each side is rounded, in the unit. */
  readonly step: number;
  readonly cmPerUnit: number;
}

/** How well the dimensions of two measurements agree: `turned` if two sides are exchanged. */
export type Agreement = "same" | "turned" | "different" | "unknown";

/**
 * Compares dimensions. In the same unit they have to be equal; in two units each was rounded on its own, and may be
 * half a step of its own away from the true value. `isRounded` allows that in the same unit too, for records that are
 * known to belong together by other facts.
 */
export function compareSides(a: Figures, b: Figures, isRounded = false): Agreement {
  const [first, second] = [sidesOf(a), sidesOf(b)];
  if (first === null || second === null) {
    return "unknown";
  }
  const halfStepsCm = (first.step * first.cmPerUnit + second.step * second.cmPerUnit) / 2;
  const toleranceCm = (first.unit === second.unit && !isRounded ? 0 : halfStepsCm) + noise;
  const areClose = (ones: readonly number[], others: readonly number[]): boolean =>
    ones.every((one, index) => Math.abs(one - (others[index] ?? 0)) <= toleranceCm);
  if (areClose(first.sidesCm, second.sidesCm)) {
    return "same";
  }
  return areClose(inOrder(first.sidesCm), inOrder(second.sidesCm)) ? "turned" : "different";
}

/** Whether two weights may be the same; also if one of them is not known, since a device without a scale sends 0. */
export function canWeighSame(a: Figures, b: Figures): boolean {
  const [first, second] = [kgOf(a), kgOf(b)];
  return first === null || second === null || Math.abs(first - second) <= weightToleranceKg;
}

function inOrder(sides: readonly number[]): number[] {
  return sides.toSorted((one, other) => one - other);
}

/** Returns null if there are no dimensions: a side is 0, or the unit is not known. */
function sidesOf({ length, width, height, dimsUnit, step }: Figures): Sides | null {
  const unit = unitOf(dimsUnit);
  const factor = cmPerUnit.get(unit);
  const values = [length, width, height].filter((side): side is number => side !== null && side > 0);
  if (factor === undefined || values.length < 3) {
    return null;
  }
  const sidesCm = values.map((value) => value * factor);
  return { sidesCm, unit, cmPerUnit: factor, step: stepOf(values, step) };
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
  const factor = kgPerUnit.get(unitOf(weightUnit));
  return weight === null || weight <= 0 || factor === undefined ? null : weight * factor;
}

function unitOf(name: string | null): string {
  return name?.trim().toLowerCase() ?? "";
}
