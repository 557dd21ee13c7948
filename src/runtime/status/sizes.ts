import type { MeasureResult } from "../../model/shapes.ts";

/**
 * Formats the size and weight of a parcel in a language: "10.3×12.1×14.5 cm, 2.5 kg"; without the weight if it would be
 * longer than `longest`. The values are read at once, since the flow may change the result before the status is shown.
 */
export function formatFigures(result: MeasureResult, longest: number): (language: string) => string {
  const { length, width, height, weight } = result;
  const dimsUnit = result.dimsUnitOfMeasure ?? "";
  const weightUnit = result.weightUnitOfMeasure ?? "";
  return (language) => {
    const format = new Intl.NumberFormat(language, { maximumFractionDigits: 2, useGrouping: false });
    const sides = [length, width, height].map((side) => (side === null ? "?" : format.format(side)));
    const dimensions = `${sides.join("×")} ${dimsUnit}`.trim();
    const whole =
      weight === null ? dimensions : `${dimensions}, ${format.format(weight)} ${weightUnit}`.trim();
    return whole.length > longest ? dimensions : whole;
  };
}
