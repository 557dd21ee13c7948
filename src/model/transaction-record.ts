import * as v from "valibot";
import { decimal, decode, flag, id, text } from "./decode.ts";

/** Wire values as numbers, also where a version sends them as text. */
const record = v.looseObject({
  transactionId: id,
  legacyId: text,
  deviceClientId: text,
  errorCode: v.pipe(
    v.union([v.number(), v.pipe(v.string(), v.trim(), v.regex(/^-?\d{1,9}$/), v.transform(Number))]),
    v.integer(),
  ),
  errorMessage: text,
  dateTimeUtc: text,
  elapsedMs: decimal,
  isManualDimension: flag,
  dimsUnitOfMeasure: text,
  weightUnitOfMeasure: text,
  measurementFidelity: decimal,
  rotationAngle: decimal,
  length: decimal,
  width: decimal,
  height: decimal,
  weight: decimal,
  cameraSerialId: text,
  barcodeReference: text,
  customReference1: text,
  customReference2: text,
  customReference3: text,
  transactionReference: text,
});

/**
 * One measurement transaction as the cloud's webhook tells of it, in the names that a measure's result has. Both versions
 * of the record become this: v1 with an integer id, v2 with a GUID and the integer as `legacyId`. Ids are opaque text;
 * what a version does not have is null; fields that nobody knows yet pass through.
 */
export interface TransactionRecord {
  /** True when the device reports success (errorCode 0). */
  ok: boolean;
  source: "webhook";
  transactionId: string;
  /** The integer id where transactionId is a GUID. */
  legacyId: string | null;
  deviceClientId: string | null;
  /** 0: success; any other is the device's own number. */
  errorCode: number;
  errorMessage: string | null;
  dateTimeUtc: string | null;
  elapsedMs: number | null;
  /** Entered by hand, not measured. */
  isManualDimension: boolean | null;
  /** Unit of length, width and height. */
  dimsUnitOfMeasure: string | null;
  weightUnitOfMeasure: string | null;
  /** Step of the dimensions, in their unit. */
  measurementFidelity: number | null;
  /** Degrees by which the object lies turned. */
  rotationAngle: number | null;
  length: number | null;
  width: number | null;
  height: number | null;
  weight: number | null;
  cameraSerialId: string | null;
  /** The scanned barcode; also known as primary reference. */
  barcodeReference: string | null;
  customReference1: string | null;
  customReference2: string | null;
  customReference3: string | null;
  transactionReference: string | null;
  [field: string]: unknown;
}

/** The record's names for what a measure's result calls otherwise. */
const recordNames: ReadonlyMap<string, string> = new Map([
  ["id", "transactionId"],
  ["errorDescription", "errorMessage"],
  ["transactionDateTime", "dateTimeUtc"],
  ["elapsedTimeMilliseconds", "elapsedMs"],
  ["measurementUnitOfMeasureCd", "dimsUnitOfMeasure"],
  ["weightUnitOfMeasureCd", "weightUnitOfMeasure"],
]);

/** Reads a transaction record of either version; throws a ShapeError where it is none. */
export function decodeTransactionRecord(value: unknown): TransactionRecord {
  const fields = decode(record, rename(value));
  return { ...fields, ok: fields.errorCode === 0, source: "webhook" };
}

/** A field of the wire that already has the name of another one gives way to it. */
function rename(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return value;
  }
  const entries = Object.entries(value);
  const renamed = entries.flatMap(([name, field]): [string, unknown][] => {
    const other = recordNames.get(name);
    return other === undefined ? [] : [[other, field]];
  });
  return Object.fromEntries([...entries.filter(([name]) => !recordNames.has(name)), ...renamed]);
}
