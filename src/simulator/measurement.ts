import { weightLb } from "./catalogue/index.ts";
import type { DimsUnit, SimulatorOptions } from "./options.ts";
import type { Random } from "./random.ts";
import type { TableParcel } from "./parcels.ts";
import { localTime } from "./timers.ts";

/** The host's references of a measurement or a recording. */
export interface References {
  readonly transactionReference: string | null;
  readonly customReference1: string | null;
  readonly customReference2: string | null;
  readonly customReference3: string | null;
}

export const noReferences: References = {
  transactionReference: null,
  customReference1: null,
  customReference2: null,
  customReference3: null,
};

/** The result of one measurement, before it is written in the format of an API. */
export interface Measurement extends References {
  readonly at: Date;
  readonly elapsedMs: number;
  readonly errorCode: number;
  readonly errorMessage: string;
  readonly dimsUnit: DimsUnit;
  readonly weightUnit: string;
  readonly legalForTrade: boolean;
  readonly weight: number;
  readonly object: {
    readonly trackId: number;
    readonly rotationAngle: number;
    readonly length: number;
    readonly width: number;
    readonly height: number;
  } | null;
}

type Units = Pick<
  SimulatorOptions,
  "dimsUnit" | "weightUnit" | "weightJitterKg" | "measureMs" | "emptyTable"
>;

const unitsPerCm: Readonly<Record<DimsUnit, number>> = { cm: 1, mm: 10, in: 1 / 2.54 };

/** Fidelity of the newer device: half units. */
export const newerFidelity = 0.5;
/** Fidelity of the earlier device: one-fifth units. */
const earlierFidelity = 0.2;

function rounded(value: number, places: number): number {
  return Number(value.toFixed(places));
}

/** Measures what lies on the table. */
export function measureParcel(
  table: TableParcel | null,
  units: Units,
  random: Random,
  facts: References & { readonly trackId: number; readonly legalForTrade: boolean },
): Measurement {
  const { trackId, legalForTrade, ...references } = facts;
  const common = {
    ...references,
    at: new Date(),
    elapsedMs: units.measureMs > 0 ? units.measureMs + random.integer(0, 9) : random.integer(380, 640),
    dimsUnit: units.dimsUnit,
    weightUnit: units.weightUnit,
    legalForTrade,
  };
  if (table === null) {
    return { ...common, ...units.emptyTable, weight: 0, object: null };
  }
  const kg = Math.max(0, table.weightKg + (random.next() * 2 - 1) * units.weightJitterKg);
  const weight = units.weightUnit === "kg" ? rounded(kg, 2) : weightLb({ weightKg: kg });
  const { errorCode, errorMessage } = table;
  if (errorCode !== 0) {
    return { ...common, errorCode, errorMessage, weight, object: null };
  }
  const inUnits = (cm: number): number => rounded(cm * unitsPerCm[units.dimsUnit], 2);
  return {
    ...common,
    errorCode,
    errorMessage,
    weight,
    object: {
      trackId,
      rotationAngle: table.rotationAngle,
      length: inUnits(table.lengthCm),
      width: inUnits(table.widthCm),
      height: inUnits(table.heightCm),
    },
  };
}

/** The measured sides in a unit; null if nothing was measured. */
export function sidesIn(
  { object, dimsUnit }: Measurement,
  unit: DimsUnit,
): Readonly<Record<"length" | "width" | "height", number>> | null {
  const factor = unitsPerCm[unit] / unitsPerCm[dimsUnit];
  const convert = (side: number): number => (unit === dimsUnit ? side : rounded(side * factor, 2));
  return object === null
    ? null
    : { length: convert(object.length), width: convert(object.width), height: convert(object.height) };
}

function times(measurement: Measurement): { dateTimeLocal: string; dateTimeUtc: string } {
  return { dateTimeLocal: localTime(measurement.at), dateTimeUtc: measurement.at.toISOString() };
}

function newerFields(measurement: Measurement, words: string): Record<string, unknown> {
  const { object, errorCode } = measurement;
  return {
    elapsedMs: measurement.elapsedMs,
    ...times(measurement),
    errorCode,
    errorMessage: words,
    objectCount: object === null ? 0 : 1,
    dimsUnitOfMeasure: measurement.dimsUnit,
    weightUnitOfMeasure: measurement.weightUnit,
    measurementFidelity: String(newerFidelity),
    legalForTrade: measurement.legalForTrade,
    // Two decimals even if the second one is 0, because clients have to keep the exact text.
    weight: JSON.rawJSON(measurement.weight.toFixed(2)),
    objectId: "",
    measuredObjects: object === null ? [] : [{ ...object, errorCode, errorMessage: words }],
  };
}

/** The newer device's response as JSON text. */
export function newerResult(measurement: Measurement, imageIdentifier: string): string {
  const { transactionReference, customReference1, customReference2, customReference3 } = measurement;
  const references = { transactionReference, customReference1, customReference2, customReference3 };
  const words = measurement.errorCode === 0 ? "-" : measurement.errorMessage;
  return JSON.stringify({ ...references, imageIdentifier, ...newerFields(measurement, words) });
}

/** The cloud's response to a measure trigger: like the newer device's, with a transaction instead of an image. */
export function cloudResult(measurement: Measurement, transactionId: string | number): string {
  const { transactionReference } = measurement;
  const words = measurement.errorCode === 0 ? "0-SUCCESS" : measurement.errorMessage;
  return JSON.stringify({ transactionId, transactionReference, ...newerFields(measurement, words) });
}

/** The earlier device's response as JSON text. */
export function earlierResult(measurement: Measurement, imageId: string, withImageFields: boolean): string {
  const { object, errorCode } = measurement;
  const errorMessage = `(${errorCode}) - ${errorCode === 0 ? "SUCCESS" : measurement.errorMessage}`;
  return JSON.stringify({
    elapsedMilliseconds: measurement.elapsedMs,
    ...times(measurement),
    errorCode,
    errorMessage,
    objectCount: object === null ? 0 : 1,
    unitOfMeasure: measurement.dimsUnit,
    measurementFidelity: earlierFidelity,
    dimensionsLegalForTrade: measurement.legalForTrade,
    imageId,
    ...(withImageFields ? { depthImage: null, colorImage: null, annotatedColorImage: null } : {}),
    measuredObjects: object === null ? [] : [{ ...object, errorCode, errorMessage }],
  });
}
