import { parseFields, recordLimits } from "../../model/parse-json.ts";
import type { Measured } from "./manifest.ts";

/** The longest measurement.json that this package writes. */
export const mostMeasurementBytes = 32 * 1024 * 1024;

/** Reads the size and the weight from the fields of a measurement. */
export function measuredOf(fields: Readonly<Record<string, unknown>>): Measured {
  return {
    length: figureOf(fields, "length"),
    width: figureOf(fields, "width"),
    height: figureOf(fields, "height"),
    dimsUnitOfMeasure: unitOf(fields, "dimsUnitOfMeasure"),
    weight: figureOf(fields, "weight"),
    weightUnitOfMeasure: unitOf(fields, "weightUnitOfMeasure"),
  };
}

/** The same from the text of measurement.json; null without one. */
export function measuredIn(text: string | null): Measured | null {
  return text === null ? null : measuredOf(parseFields(text, recordLimits) ?? {});
}

/**
 * A measured value; null for what is not there, and for what cannot be one. A manifest would have numbers beyond 2^53 as integers, which
 * are read as IDs.
 */
export function figureOf(fields: Readonly<Record<string, unknown>>, name: string): number | null {
  const value = fields[name];
  return typeof value === "number" && Math.abs(value) <= Number.MAX_SAFE_INTEGER ? value : null;
}

/** The unit of a measured value; null for what is not there. */
export function unitOf(fields: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = fields[name];
  return typeof value === "string" && value !== "" ? value : null;
}
