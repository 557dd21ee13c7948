import assert from "node:assert/strict";
import { DimensionerError, type ErrorCode } from "../../src/errors/dimensioner-error.ts";
import { decodeMeasureResult } from "../../src/model/measure-result.ts";
import type { MeasureResult, TransactionRecord } from "../../src/model/shapes.ts";
import { decodeTransactionRecord } from "../../src/model/transaction-record.ts";

/** A side or a weight as a device sends it. */
export type Figure = number | null;

interface Facts {
  readonly dimsUnit?: string;
  readonly weight?: Figure;
  readonly weightUnit?: string;
  /** Beside these, what the device sends, in the newer device's names. */
  readonly more?: object;
}

/** The result of a newer device that has measured one parcel, on 22 November 2026 if nothing else is said. */
export function resultOf(
  [length, width, height]: readonly [Figure, Figure, Figure],
  { dimsUnit = "in", weight = 1, weightUnit = "lb", more = {} }: Facts = {},
): MeasureResult {
  const body = {
    dateTimeLocal: "2026-11-22T10:00:00-05:00",
    dateTimeUtc: "2026-11-22T15:00:00Z",
    errorCode: 0,
    objectCount: 1,
    dimsUnitOfMeasure: dimsUnit,
    weightUnitOfMeasure: weightUnit,
    weight,
    measuredObjects: [{ trackId: 1, errorCode: 0, length, width, height }],
    ...more,
  };
  return decodeMeasureResult(body, "newer-device");
}

export function recordOf(more: object = {}): TransactionRecord {
  return decodeTransactionRecord({
    id: 905865,
    errorCode: 0,
    transactionDateTime: "2026-11-22T15:00:00Z",
    measurementUnitOfMeasureCd: "cm",
    weightUnitOfMeasureCd: "kg",
    length: 40,
    width: 30,
    height: 20,
    weight: 2,
    ...more,
  });
}

/** Expects one of this package's errors, and returns it. */
export function caughtBy(act: () => unknown, code: ErrorCode): DimensionerError {
  try {
    act();
  } catch (error) {
    assert.ok(error instanceof DimensionerError, String(error));
    assert.equal(error.code, code);
    assert.equal(error.details.operation, "billable weight");
    assert.equal(error.details.outcome, null);
    return error;
  }
  return assert.fail("nothing was thrown");
}
