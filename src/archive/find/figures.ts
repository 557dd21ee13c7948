import type { Figures } from "./local-measurement.ts";

const cmPerUnit: ReadonlyMap<string, number> = new Map([
  ["mm", 0.1],
  ["cm", 1],
  ["m", 100],
  ["in", 2.54],
  ["ft", 30.48],
]);
const kgPerUnit: ReadonlyMap<string, number> = new Map([
  ["g", 0.001],
  ["kg", 1],
  ["oz", 0.028349523125],
  ["lb", 0.45359237],
]);
/** Weights are rounded once or twice on their way, in steps that nobody tells. */
const weightToleranceKg = 0.05;
/** What storing and computing with binary fractions may add to a difference. */
const noise = 1e-3;

interface Sides {
  readonly sidesCm: readonly number[];
  readonly unit: string;
  /** To which each side is rounded, in the unit. */
  readonly step: number;
  readonly cmPerUnit: number;
}

/** How well two measurements' dimensions agree: `turned` where two sides have changed places. */
export type Agreement = "same" | "turned" | "different" | "unknown";

/**
 * Compares dimensions. In one unit they have to be equal; in two units each was rounded by itself, and may be half a step of its
 * own away from what was measured. `isRounded` allows that in one unit too, for what is known to belong together otherwise.
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

/** Whether two weights can be the same; also where one of them is not known: a device without a scale sends 0. */
export function canWeighSame(a: Figures, b: Figures): boolean {
  const [first, second] = [kgOf(a), kgOf(b)];
  return first === null || second === null || Math.abs(first - second) <= weightToleranceKg;
}

function inOrder(sides: readonly number[]): number[] {
  return sides.toSorted((one, other) => one - other);
}

/** Null for no dimensions: also 0 is none, and a unit that nobody knows says nothing. */
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

/** The device's step where the sides are multiples of it; where another unit or service has rounded them, their last decimal. */
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
