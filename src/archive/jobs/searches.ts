import {
  noteKnown,
  noteSought,
  type JobOfMeasurement,
  type TransactionIds,
} from "../find/measurement-table.ts";
import type { Search } from "../find/transaction-finder.ts";
import type { Intent } from "../packages/intent.ts";
import type { Manifest } from "../packages/manifest.ts";
import type { Statement } from "../../store/database.ts";
import { asksCloud } from "./demand.ts";
import { answerOf, answerOfManifest, cloudKey, measureKey, type Answer, type KeyedDevice } from "./keys.ts";
import type { OpenJob } from "./open-job.ts";

/** How the transaction of a job is sought. Null where the job says too little of its measurement. */
export function searchOf({ id, acceptedAt, intent, answer }: OpenJob): Search | null {
  const { measuredBy, sought } = intent;
  return measuredBy === null || sought === null
    ? null
    : { job: id, key: measureKey(measuredBy, answer), acceptedAt, local: sought };
}

/** Notes in the transaction that accepts a job that its measurement's transaction is sought, or which one it is. */
export function noteMeasurement(
  { id, intent }: { readonly id: string; readonly intent: Intent },
  acceptedAt: Date,
): Statement[] {
  const { measuredBy, sought, transactionId } = intent;
  const answer = answerOf(intent);
  const job = (key: string) => ({ job: id, key, acceptedAt });
  if (transactionId === null) {
    const isSought = measuredBy !== null && sought !== null && asksCloud(intent);
    return isSought ? [noteSought(job(measureKey(measuredBy, answer)), sought)] : [];
  }
  const key = keyOfKnown(measuredBy, transactionId, answer);
  return key === null ? [] : [noteKnown(job(key), { transactionId, legacyId: null })];
}

/** The measurement of a package, and the transaction that it was given; null where the package says too little. */
export function measurementOf(manifest: Manifest): (JobOfMeasurement & TransactionIds) | null {
  const { transactionId, legacyTransactionId: legacyId = null, measuredBy = null } = manifest;
  const { job, times, supplements = null } = manifest;
  const answer = answerOfManifest(manifest);
  // A supplement without an answer is of the measurement of the package that it completes.
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
  // A webhook's record is not a measurement of its own: the device's answer to a local measure may belong to it.
  return answer.raw === null ? null : cloudKey(null, transactionId);
}
