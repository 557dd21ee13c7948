import * as v from "valibot";
import { beginning, phrase, type Phrase } from "../errors/interpolation.ts";
import { decimal, decode, flag, number, text } from "./decode.ts";

const measuredObject = v.looseObject({
  /** Text where no number holds it exactly. */
  trackId: v.optional(v.nullable(v.union([v.number(), v.string()])), null),
  errorCode: number,
  errorMessage: text,
  rotationAngle: number,
  length: number,
  width: number,
  height: number,
});

const measureResult = v.looseObject({
  transactionId: text,
  transactionReference: text,
  customReference1: text,
  customReference2: text,
  customReference3: text,
  imageIdentifier: text,
  elapsedMs: number,
  dateTimeLocal: text,
  dateTimeUtc: text,
  errorCode: v.pipe(v.number(), v.integer()),
  errorMessage: text,
  objectCount: number,
  dimsUnitOfMeasure: text,
  weightUnitOfMeasure: text,
  measurementFidelity: decimal,
  legalForTrade: flag,
  weight: number,
  objectId: text,
  measuredObjects: v.pipe(
    v.optional(v.nullable(v.array(measuredObject)), null),
    v.transform((objects) => objects ?? []),
  ),
});

// The exported types are written out, not inferred: users read them, and need no schema library to compile with them.

/** One measured object; lengths in the result's dimsUnitOfMeasure (spec 2.3 and 2.4). */
export interface MeasuredObject {
  /** The number the device follows the object by; text where no number holds it exactly. */
  trackId: number | string | null;
  /** 0: this object was measured. */
  errorCode: number | null;
  errorMessage: string | null;
  /** Degrees by which the object lies turned. */
  rotationAngle: number | null;
  length: number | null;
  width: number | null;
  height: number | null;
  [field: string]: unknown;
}

/** Which API a measure came from. */
export type MeasureSource = "newer-device" | "earlier-device" | "cloud";

/**
 * The result of a measure, in the newer device's names whatever the surface (spec 2.3 and 2.4). Values are as the device
 * sent them; what a surface does not have is null; fields that nobody knows yet pass through.
 */
export interface MeasureResult {
  /** True only when the result and each of its objects report success and there is at least one object. */
  ok: boolean;
  source: MeasureSource;
  /** Null for a local measure. */
  transactionId: string | null;
  transactionReference: string | null;
  customReference1: string | null;
  customReference2: string | null;
  customReference3: string | null;
  /** For the pictures of this measure; null for a measure through the cloud. */
  imageIdentifier: string | null;
  elapsedMs: number | null;
  /** ISO 8601 with the offset of the device's clock. */
  dateTimeLocal: string | null;
  dateTimeUtc: string | null;
  /** 0: success; any other is the device's own number. */
  errorCode: number;
  errorMessage: string | null;
  objectCount: number | null;
  /** Unit of length, width and height, such as cm or in. */
  dimsUnitOfMeasure: string | null;
  /** Unit of weight, such as kg or lb. */
  weightUnitOfMeasure: string | null;
  /** Step of the dimensions, in their unit. */
  measurementFidelity: number | null;
  legalForTrade: boolean | null;
  weight: number | null;
  objectId: string | null;
  /** Empty where nothing was found on the table. */
  measuredObjects: MeasuredObject[];
  [field: string]: unknown;
}

/** The earlier device's names for what the newer one calls otherwise (spec 2.4). */
const earlierNames: ReadonlyMap<string, string> = new Map([
  ["elapsedMilliseconds", "elapsedMs"],
  ["unitOfMeasure", "dimsUnitOfMeasure"],
  ["dimensionsLegalForTrade", "legalForTrade"],
  ["imageId", "imageIdentifier"],
]);

/** Reads a measure of any surface; throws a ShapeError where it is none. */
export function decodeMeasureResult(value: unknown, source: MeasureSource): MeasureResult {
  const fields = source === "earlier-device" ? rename(value) : value;
  const result = decode(measureResult, fields);
  const { errorCode, objectCount, measuredObjects } = result;
  const ok =
    errorCode === 0 &&
    measuredObjects.length > 0 &&
    objectCount === measuredObjects.length &&
    measuredObjects.every((object) => object.errorCode === 0);
  return { ...result, ok, source };
}

function rename(value: unknown): unknown {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(
        Object.entries(value).map(([name, field]) => [earlierNames.get(name) ?? name, field]),
      )
    : value;
}

/** Why a result is not ok, for people: the device's own words where it has any. */
export function explainFailure(result: MeasureResult): { problem: Phrase; errorCode: number } {
  const failed = result.measuredObjects.find((object) => object.errorCode !== 0);
  if (result.errorCode !== 0) {
    return { problem: describe(result.errorCode, result.errorMessage), errorCode: result.errorCode };
  }
  if (failed !== undefined) {
    const errorCode = failed.errorCode ?? 0;
    return { problem: describe(failed.errorCode, failed.errorMessage), errorCode };
  }
  return { problem: describeCount(result), errorCode: 0 };
}

function describe(errorCode: number | null, errorMessage: string | null): Phrase {
  // Cut first: over a text of megabytes the pattern would take hours.
  const words = beginning((errorMessage ?? "").trim()).replace(/[.\s]+$/, "");
  const code = errorCode ?? phrase("noErrorCode");
  return words === "" || words === "-"
    ? phrase("errorCode", { code })
    : phrase("errorWords", { words, code });
}

function describeCount({ objectCount: count, measuredObjects }: MeasureResult): Phrase {
  const described = measuredObjects.length;
  if (described === 0) {
    return phrase("noParcel");
  }
  return count === null
    ? phrase("objectsUncounted", { described })
    : phrase("objectsMiscounted", { count, described });
}
