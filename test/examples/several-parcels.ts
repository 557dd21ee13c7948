import type { FaultRule } from "../../src/simulator/index.ts";

const paths = { newer: "/api/v1/measure", earlier: "/api/measure", cloud: "/api/remotetrigger/measure" };

/** What the examples show instead of the dimensions. */
export const measureEach = "2 objects together: measure each parcel on its own";

/** Lets the next measurement find two parcels: it succeeds, and has no dimensions of one parcel. */
export function severalParcels(surface: keyof typeof paths): FaultRule {
  const side = { rotationAngle: 0, length: 20, width: 10, height: 5, errorCode: 0, errorMessage: "-" };
  const set = {
    objectCount: 2,
    measuredObjects: [
      { trackId: 1, ...side },
      { trackId: 2, ...side },
    ],
  };
  return { surface, path: paths[surface], fault: { kind: "json-patch", set } };
}
