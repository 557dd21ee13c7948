import type { MeasureResult } from "../../model/shapes.ts";

/** Bytes as people say them: "12.3 MB". */
export function formatBytes(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit] ?? ""}`;
}

/** A parcel's dimensions as people say them: "10.3×12.1×14.5 cm". */
export function formatDimensions(result: MeasureResult): string {
  const [object] = result.measuredObjects;
  const sides = [object?.length, object?.width, object?.height].map((side) =>
    typeof side === "number" ? String(Math.round(side * 100) / 100) : "?",
  );
  return `${sides.join("×")} ${result.dimsUnitOfMeasure ?? ""}`.trim();
}
