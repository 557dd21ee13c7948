import { newerFidelity, sidesIn } from "./measurement.ts";
import type { RecordChanges } from "./options.ts";
import type { Transaction } from "./transactions.ts";

/** The flat record of a measurement transaction, as webhooks carry it. */
export function transactionRecord(
  transaction: Transaction,
  version: "v1" | "v2",
  { clockAheadMs, customReferences, dimsUnit }: RecordChanges,
): Record<string, unknown> {
  const { measurement } = transaction;
  const reference = (text: string | null): string | null => (customReferences ? text : null);
  const sides = measurement === null ? null : sidesIn(measurement, dimsUnit ?? measurement.dimsUnit);
  return {
    ...(version === "v1"
      ? { id: transaction.legacyId }
      : { id: transaction.guid, legacyId: transaction.legacyId }),
    deviceClientId: transaction.deviceClientId,
    errorCode: measurement?.errorCode ?? 0,
    errorDescription: measurement === null || measurement.errorCode === 0 ? "" : measurement.errorMessage,
    transactionDateTime: new Date(transaction.at.getTime() + clockAheadMs).toISOString(),
    elapsedTimeMilliseconds: measurement?.elapsedMs ?? 0,
    isManualDimension: false,
    measurementUnitOfMeasureCd: dimsUnit ?? measurement?.dimsUnit ?? null,
    weightUnitOfMeasureCd: measurement?.weightUnit ?? null,
    measurementFidelity: newerFidelity,
    rotationAngle: measurement?.object?.rotationAngle ?? 0,
    length: sides?.length ?? 0,
    width: sides?.width ?? 0,
    height: sides?.height ?? 0,
    weight: measurement?.weight ?? 0,
    cameraSerialId: `SIM-${transaction.deviceClientId.slice(0, 8).toUpperCase()}`,
    barcodeReference: transaction.barcodeReference,
    customReference1: reference(transaction.customReference1),
    customReference2: reference(transaction.customReference2),
    customReference3: reference(transaction.customReference3),
    transactionReference: transaction.transactionReference,
  };
}
