import { grams as gramsPerUnit, millimeters, readLengthUnit, readWeightUnit } from "../../rules/units.ts";
import type { Measured } from "./manifest.ts";

/** A size as the index has it: the sides by their length, whichever the device calls length, width and height. */
export interface IndexedSize {
  readonly longest_mm: number | null;
  readonly middle_mm: number | null;
  readonly shortest_mm: number | null;
  readonly weight_g: number | null;
}

/**
 * Rounds what was measured to whole millimetres and grams; null for what is not known, has an unknown unit, or is too large for a
 * column.
 */
export function indexedSize(measured: Measured | null): IndexedSize {
  const { length = null, width = null, height = null, weight = null } = measured ?? {};
  const sides = [length, width, height].flatMap((side) =>
    side === null || side <= 0 ? [] : (whole(millimetres(side, measured?.dimsUnitOfMeasure ?? "")) ?? []),
  );
  const [longest_mm = null, middle_mm = null, shortest_mm = null] =
    sides.length < 3 ? [] : sides.toSorted((one, other) => other - one);
  const grammes = weight === null ? undefined : grams(weight, measured?.weightUnitOfMeasure ?? "");
  // A device without a scale sends 0.
  const weight_g = grammes === undefined || grammes <= 0 ? null : (whole(grammes) ?? null);
  return { longest_mm, middle_mm, shortest_mm, weight_g };
}

/** PostgreSQL refuses what its integers cannot hold, and SQLite would keep a fraction that is none. */
function whole(value: number | undefined): number | undefined {
  const rounded = value === undefined ? undefined : Math.round(value);
  return Number.isSafeInteger(rounded) ? rounded : undefined;
}

/** Undefined for a unit that is not known. */
export function millimetres(value: number, unit: string): number | undefined {
  const known = readLengthUnit(unit);
  return known === null ? undefined : value * Number(millimeters[known]);
}

/** Undefined for a unit that is not known. */
export function grams(value: number, unit: string): number | undefined {
  const known = readWeightUnit(unit);
  return known === null ? undefined : value * Number(gramsPerUnit[known]);
}
