/** The units in which devices measure, and people write sizes, in small letters. */

export const cmPerUnit: ReadonlyMap<string, number> = new Map([
  ["mm", 0.1],
  ["cm", 1],
  ["m", 100],
  ["in", 2.54],
  ["ft", 30.48],
]);

export const kgPerUnit: ReadonlyMap<string, number> = new Map([
  ["g", 0.001],
  ["kg", 1],
  ["oz", 0.028349523125],
  ["lb", 0.45359237],
]);
