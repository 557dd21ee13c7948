import { outcomeUnknown, succeeds } from "../endings.ts";
import type { Ending, Row, Rows } from "../row.ts";

/** The command was executed, and the device reports that it could not measure. */
const failed: Ending = { code: "ERR_MEASURE_FAILED", outcome: "failed", retryable: false };

const parcel = { errorCode: 0, errorMessage: "-", length: 10.3, width: 12.1, height: 14.5 };

const patched = (
  set: Readonly<Record<string, unknown>>,
  measure: Ending,
  remove: readonly string[] = [],
): Row => ({
  faults: [{ kind: "json-patch", set: { ...set }, remove: [...remove] }],
  acts: 1,
  measure,
});

/** Measurements that are not as usual. */
export const results: Rows = {
  "errorCode other than 0": patched({ errorCode: 5, errorMessage: "too small" }, failed),
  "errorCode other than 0 on the object alone": patched({ "measuredObjects.0.errorCode": 5 }, failed),
  "no object": patched({ objectCount: 0, measuredObjects: [] }, failed),
  "an objectCount of 2 with one object": patched({ objectCount: 2 }, failed),
  "an objectCount of 0 with one object": patched({ objectCount: 0 }, failed),
  "two objects": patched({ objectCount: 2, measuredObjects: [parcel, parcel] }, succeeds),
  "a second object that is null": patched(
    { objectCount: 2, measuredObjects: [parcel, null] },
    outcomeUnknown("ERR_BAD_RESPONSE"),
  ),
  "an unusual text for success": patched({ errorMessage: "(0) - SUCCESS" }, succeeds),
  "no text for success": patched({ errorMessage: null }, succeeds),
  "a fidelity as text": patched({ measurementFidelity: "0.2" }, succeeds),
  "a fidelity as number": patched({ measurementFidelity: 0.5 }, succeeds),
  "an unknown unit": patched({ dimsUnitOfMeasure: "ell", unitOfMeasure: "ell" }, succeeds),
  "fractions of a second with seven digits": patched(
    { dateTimeUtc: "2026-03-01T09:00:00.1234567Z" },
    succeeds,
  ),
  "unknown fields": patched({ volume: { cubic: 1 }, "measuredObjects.0.shape": "box" }, succeeds),
  "fields missing": patched({}, succeeds, ["elapsedMs", "elapsedMilliseconds", "dateTimeLocal", "weight"]),
  "fields null": patched({ dateTimeLocal: null, weight: null, legalForTrade: null }, succeeds),
  "names of built-in object properties": patched({ constructor: "x", toString: 1 }, succeeds),
  "no errorCode": patched({}, outcomeUnknown("ERR_BAD_RESPONSE"), ["errorCode"]),
  "an errorCode as text": patched({ errorCode: "none" }, outcomeUnknown("ERR_BAD_RESPONSE")),
  "no list of objects": patched({ measuredObjects: "one" }, outcomeUnknown("ERR_BAD_RESPONSE")),
};
