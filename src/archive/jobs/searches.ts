import { noteKnown, noteSought } from "../find/measurement-table.ts";
import type { Search } from "../find/transaction-finder.ts";
import type { Intent } from "../packages/intent.ts";
import type { Statement } from "../../store/database.ts";
import { asksCloud } from "./demand.ts";
import { answerOf, cloudKey, measureKey } from "./keys.ts";
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
  // A webhook's record is not a measurement of its own: the device's answer to a local measure may belong to it.
  if (answer.raw === null) {
    return [];
  }
  const key = measuredBy === null ? cloudKey(null, transactionId) : measureKey(measuredBy, answer);
  return [noteKnown(job(key), transactionId)];
}
