import type { Candidate, MeasurementSearch } from "../../../src/jobs/transactions.ts";
import type { LocalMeasurement, References } from "../../../src/model/local-measurement.ts";
import { decodeTransactionRecord } from "../../../src/model/transaction-record.ts";

const start = Date.parse("2026-11-22T09:00:00.000Z");

/** A time by this computer's clock, so many seconds after the tests begin. */
export const at = (seconds: number): Date => new Date(start + Math.round(seconds * 1000));

export const tag = "6a8f3c1e-7f2b-4c7d-9a51-0d2b8a4c9e11";
export const otherTag = "b3d9e0a2-1c44-4f6a-8a0f-5e6f7a8b9c0d";

const noReferences: References = {
  transactionReference: null,
  customReference1: null,
  customReference2: null,
  customReference3: null,
};

type Size = readonly [length: number, width: number, height: number];

export const box: Size = [33.5, 21, 12.5];

interface MeasureGiven extends Partial<References> {
  readonly tag?: string;
  readonly ok?: boolean;
  /** Null for several objects, or none. */
  readonly size?: Size | null;
  readonly unit?: string;
  readonly step?: number | null;
  readonly weight?: number | null;
  readonly deviceUtcTime?: string | null;
}

/** A measurement that was sent so many seconds after the beginning, of the box for ORDER-1 where nothing else is said. */
export function measured(key: string, seconds: number, given: MeasureGiven = {}): MeasurementSearch {
  const { size = box, unit = "cm", step = 0.5, weight = 1.27, ok = true, deviceUtcTime = null } = given;
  const { tag: sentTag = null, ...more } = given;
  const references: References = { ...noReferences, transactionReference: "ORDER-1" };
  for (const name of Object.keys(noReferences) as (keyof References)[]) {
    references[name] = more[name] === undefined ? references[name] : more[name];
  }
  const [length = null, width = null, height = null] = size ?? [];
  const figures = { length, width, height, dimsUnit: unit, step, weight, weightUnit: "kg" };
  const local: LocalMeasurement = {
    sentAt: at(seconds).toISOString(),
    references,
    tag: sentTag,
    ok,
    figures,
    deviceUtcTime,
  };
  return { key, local };
}

interface RecordGiven extends Partial<References> {
  readonly legacyId?: string;
  readonly size?: Size;
  readonly unit?: string;
  readonly step?: number | null;
  readonly weight?: number;
  readonly weightUnit?: string;
  readonly errorCode?: number;
  readonly dateTimeUtc?: string;
}

/** A record as the cloud posts it, received so many seconds after the beginning. */
export function received(id: string, seconds: number, given: RecordGiven = {}): Candidate {
  const { size = box, unit = "cm", step = 0.5, weight = 1.27, weightUnit = "kg", errorCode = 0 } = given;
  const { legacyId, dateTimeUtc = null } = given;
  const references = { transactionReference: "ORDER-1", customReference1: null, ...given };
  const [length, width, height] = size;
  return {
    receivedAt: at(seconds),
    record: decodeTransactionRecord({
      id,
      legacyId: legacyId ?? null,
      errorCode,
      transactionDateTime: dateTimeUtc,
      measurementUnitOfMeasureCd: unit,
      weightUnitOfMeasureCd: weightUnit,
      measurementFidelity: step,
      length,
      width,
      height,
      weight,
      transactionReference: references.transactionReference,
      customReference1: references.customReference1,
      customReference2: references.customReference2 ?? null,
      customReference3: references.customReference3 ?? null,
    }),
  };
}
