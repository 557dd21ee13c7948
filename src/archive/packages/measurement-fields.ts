/** The longest measurement.json that this package writes. */
export const mostMeasurementBytes = 32 * 1024 * 1024;

/** A measured value; null for what is not there, and for what cannot be one. */
export function figureOf(fields: Readonly<Record<string, unknown>>, name: string): number | null {
  const value = fields[name];
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** The unit of a measured value; null for what is not there. */
export function unitOf(fields: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = fields[name];
  return typeof value === "string" && value !== "" ? value : null;
}
