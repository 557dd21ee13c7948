import { identity } from "../../database/inbox.ts";
import type { Statement } from "../../database/database.ts";
import type { Manifest } from "./manifest.ts";
import { answerOfManifest, cloudKey, measureKey, type Answer, type KeyedDevice } from "./package-keys.ts";

// The table `measurements` says which transaction belongs to which measurement. A package says so as well, and so the table can be
// rebuilt from packages and compared with them.

/** A job and the measurement that it archives. */
export interface JobOfMeasurement {
  readonly job: string;
  /** The key by which two jobs of the same measurement are recognized. */
  readonly key: string;
  readonly acceptedAt: Date;
}

/** Both ids of a transaction, as the cloud writes them. */
export interface TransactionIds {
  readonly transactionId: string;
  readonly legacyId: string | null;
}

/** How long the transaction of a measurement is kept after its job has ended. */
export const keepMs = 90 * 24 * 3_600_000;

/**
 * Returns the statement that notes a measurement whose transaction is known without a search, so that no other
 * measurement is assigned it. If another one has it already, nothing changes.
 */
export function noteTransaction(
  { key, job, acceptedAt }: JobOfMeasurement,
  { transactionId, legacyId }: TransactionIds,
): Statement {
  const at = acceptedAt.toISOString();
  const ids = [identity(transactionId), identity(legacyId ?? transactionId)];
  return {
    sql: `INSERT INTO measurements (measurement_key, job_id, accepted_at, transaction_id, legacy_id, found_at)
      SELECT ?, ?, ?, ?, ?, ?
        WHERE NOT EXISTS (SELECT 1 FROM measurements WHERE transaction_id IN (?, ?))
          AND NOT EXISTS (SELECT 1 FROM measurements WHERE legacy_id IN (?, ?))
      ON CONFLICT (measurement_key) DO UPDATE
        SET transaction_id = excluded.transaction_id, legacy_id = excluded.legacy_id, found_at = excluded.found_at
        WHERE measurements.transaction_id IS NULL`,
    values: [key, job, at, ids[0] ?? null, legacyId === null ? null : (ids[1] ?? null), at, ...ids, ...ids],
  };
}

/** The measurement of a package and its transaction; null if too little is known. */
export function measurementOf(manifest: Manifest): (JobOfMeasurement & TransactionIds) | null {
  const { transactionId, legacyTransactionId: legacyId = null, measuredBy = null } = manifest;
  const { job, times, supplements = null } = manifest;
  const answer = answerOfManifest(manifest);
  // A supplement without an answer has the measurement of the package that it completes.
  if (transactionId === null || (supplements !== null && answer.raw === null)) {
    return null;
  }
  const key = keyOfKnown(measuredBy, transactionId, answer);
  return key === null ? null : { key, job, acceptedAt: new Date(times.accepted), transactionId, legacyId };
}

/** The key of a measurement whose transaction is known; null if there is nothing by which it would be recognized. */
export function keyOfKnown(
  measuredBy: KeyedDevice | null,
  transactionId: string,
  answer: Answer,
): string | null {
  if (measuredBy !== null) {
    return measureKey(measuredBy, answer);
  }
  // A webhook's record is not a measurement of its own: the device's answer to a local measurement may belong to it.
  return answer.raw === null ? null : cloudKey(null, transactionId);
}
