import type { MissingEvidence } from "../model/shapes.ts";
import type { Database, Row, Statement } from "../database/database.ts";
import { readIntent, type Intent } from "../vault/packages/intent.ts";
import { messageOf, type Again } from "../vault/packages/message-of-intent.ts";
import type { Found } from "./missing-pages.ts";

/** A job, mostly one that has ended, with what cannot be had again from anywhere else. */
export interface EndedJob {
  readonly hasFailed: boolean;
  readonly intent: Intent | undefined;
  /** The exact answer; null where there is none, or where the row is damaged. */
  readonly raw: string | null;
  readonly transactionId: string | null;
  /** Whether its message brought media. */
  readonly hasMedia: boolean;
}

/** A column of the job `j`: whether its message brought media. */
export const hasMessageMedia = `EXISTS
  (SELECT 1 FROM job_media WHERE job_id = j.job_id AND source = 'message') AS has_message_media`;

/** Of how many transactions the jobs are read at once: an embedded database does nothing else meanwhile. */
const mostAtOnce = 100;

/**
 * Completes what was found: where a job of the transaction has failed, what that job was made from is archived again. A record says
 * less than the device's exact answer, and a package that was made from it would be called complete nevertheless.
 */
export async function completeAgain(
  database: Pick<Database, "transaction">,
  found: readonly Found[],
): Promise<MissingEvidence[]> {
  const completed: MissingEvidence[] = [];
  for (let at = 0; at < found.length; at += mostAtOnce) {
    const some = found.slice(at, at + mostAtOnce);
    const jobs = await database.transaction(some.map(endedJobsOf));
    completed.push(...some.map((one, index) => completeOne(one, (jobs[index] ?? []).map(readEnded))));
  }
  return completed;
}

function endedJobsOf({ ids: [id = "", otherId = id] }: Found): Statement {
  return {
    sql: `SELECT j.state, j.intent, j.intent_sha256, j.transaction_id, ${hasMessageMedia} FROM jobs j
      WHERE lower(j.transaction_id) IN (?, ?) AND j.state IN ('archived', 'reported', 'failed')
      ORDER BY j.accepted_at DESC, j.job_id DESC`,
    values: [id, otherId],
  };
}

/** Reads the row of a job, with the column `hasMessageMedia`. */
export function readEnded(row: Row): EndedJob {
  const intent = readIntent(row);
  const transactionId = row["transaction_id"];
  return {
    hasFailed: row["state"] === "failed",
    intent,
    raw: intent?.raw ?? null,
    transactionId: typeof transactionId === "string" ? transactionId : null,
    hasMedia: Number(row["has_message_media"]) > 0,
  };
}

/**
 * `jobs`: those of the transaction that have ended, the newest first. One whose message had media is left out as long as anything else
 * can be archived again: it is listed by itself until packages have these media. Only the record does not replace its exact answer.
 */
function completeOne({ evidence }: Found, jobs: readonly EndedJob[]): MissingEvidence {
  if (evidence.reason === "open") {
    return evidence;
  }
  const lasting = lastingOf(jobs);
  const plain = lasting.filter(({ hasMedia }) => !hasMedia);
  const failed =
    plain.find(({ raw }) => raw !== null) ??
    plain.find(({ intent }) => intent !== undefined) ??
    lasting.find(({ raw }) => raw !== null);
  return failed === undefined
    ? evidence
    : { ...evidence, archiveAgain: againOf(failed, evidence.archiveAgain) };
}

/** The failed jobs whose contents no later job has archived. */
function lastingOf(jobs: readonly EndedJob[]): EndedJob[] {
  return jobs.filter(
    (job, index) => job.hasFailed && !jobs.slice(0, index).some((later) => hasArchived(later, job)),
  );
}

function hasArchived(later: EndedJob, { raw, hasMedia }: EndedJob): boolean {
  return !later.hasFailed && (raw === null || later.raw === raw) && (later.hasMedia || !hasMedia);
}

/**
 * What a job was made from, over what would be archived again otherwise. Null if it cannot be archived again: without the media that its
 * message had, the package would be called complete, and would lack them.
 */
export function againOf(
  { hasMedia, intent, transactionId }: EndedJob,
  otherwise: object | null,
): Again | null {
  if (hasMedia || intent === undefined) {
    return null;
  }
  const again = messageOf(intent, transactionId);
  if (intent.measurement !== null || intent.raw !== null) {
    return again;
  }
  // The record is the measurement, not what was kept of another payload.
  const record = otherwise !== null && "payload" in otherwise ? { payload: otherwise.payload } : {};
  return { ...otherwise, ...again, ...record };
}
