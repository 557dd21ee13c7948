import {
  keepMeasurement,
  noteSearch,
  noteTransaction,
  type JobOfMeasurement,
  type TransactionIds,
} from "../find/measurement-table.ts";
import type { Search } from "../find/transaction-finder.ts";
import { asksCloud, type Intent } from "../../vault/packages/intent.ts";
import type { Manifest } from "../../vault/packages/manifest.ts";
import type { Statement } from "../../database/database.ts";
import {
  answerOf,
  answerOfManifest,
  cloudKey,
  measureKey,
  type Answer,
  type KeyedDevice,
} from "./job-keys.ts";
import type { OpenJob } from "./open-job.ts";

/** Returns how to search for the transaction of a job. Null if too little is known of its measurement. */
export function searchOf({ id, acceptedAt, intent, answer }: OpenJob): Search | null {
  const { measuredBy, sought } = intent;
  return measuredBy === null || sought === null
    ? null
    : { job: id, key: measureKey(measuredBy, answer), acceptedAt, local: sought };
}

/**
 * Returns the statement that notes the measurement of a job, in the transaction that accepts it: that its transaction
 * is searched for, or which one it is.
 */
export function noteMeasurement(
  { id, intent }: { readonly id: string; readonly intent: Intent },
  acceptedAt: Date,
): Statement[] {
  const { measuredBy, sought, transactionId } = intent;
  const answer = answerOf(intent);
  const job = (key: string) => ({ job: id, key, acceptedAt });
  if (transactionId === null) {
    const isSought = measuredBy !== null && sought !== null && asksCloud(intent);
    return isSought ? [noteSearch(job(measureKey(measuredBy, answer)), sought)] : [];
  }
  const key = keyOfKnown(measuredBy, transactionId, answer);
  if (key === null) {
    return [];
  }
  return [noteTransaction(job(key), { transactionId, legacyId: null }), keepMeasurement(job(key))];
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

function keyOfKnown(measuredBy: KeyedDevice | null, transactionId: string, answer: Answer): string | null {
  if (measuredBy !== null) {
    return measureKey(measuredBy, answer);
  }
  // A webhook's record is not a measurement of its own: the device's answer to a local measurement may belong to it.
  return answer.raw === null ? null : cloudKey(null, transactionId);
}
