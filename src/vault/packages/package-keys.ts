import { sha256Of } from "../../model/sha256.ts";
import type { Intent, IntentFacts } from "./intent.ts";
import type { Manifest } from "./manifest.ts";
import type { IndexKeys } from "./package-index.ts";
import { identity } from "../../database/inbox.ts";
import type { Statement } from "../../database/database.ts";
import { dayMs } from "../../time/clocks.ts";

/** The key of jobs for a transaction of a cloud. */
function cloudKey(origin: string | null, transactionId: string): string {
  return digest(["cloud", origin ?? "", transactionId]);
}

/** The facts of a device in a key. */
export interface KeyedDevice {
  readonly id: string;
  readonly imageIdentifier: string | null;
  /** The time of a recording without a measurement. */
  readonly videoAt?: string | null | undefined;
}

/**
 * The key of local measurements: the same device with the same exact answer, whether or not their transaction is known.
 */
export function measureKey(
  { id, imageIdentifier, videoAt }: KeyedDevice,
  { raw, measurement }: Answer,
): string {
  return digest(["measured", id, imageIdentifier ?? videoAt ?? "", raw ?? measurement ?? ""]);
}

/**
 * The key of messages that bring their media: the same id with the same content. Other content under the same id is
 * other evidence, and gets a package of its own.
 */
function contentKey(
  transactionId: string | null,
  { raw, measurement }: Answer,
  items: Iterable<{ readonly sha256: string }>,
): string {
  const media = [...items].map(({ sha256 }) => sha256);
  return digest(["message", transactionId ?? "", raw ?? measurement ?? "", ...media.toSorted()]);
}

/** The facts of a job, or of the job of a package, from which its keys are made. */
interface Identity {
  readonly origin: string | null;
  readonly transactionId: string | null;
  readonly measuredBy: KeyedDevice | null;
  readonly answer: Answer;
}

/**
 * The keys by which other jobs find the package of this one, its own first. A local measurement has a key of its own
 * besides that of its transaction, so that it is found by both. None for a message that is identified by its content
 * only.
 */
function keysOf({ origin, transactionId, measuredBy, answer }: Identity): readonly string[] {
  return [
    ...(origin === null || transactionId === null ? [] : [cloudKey(origin, transactionId)]),
    ...(measuredBy === null ? [] : [measureKey(measuredBy, answer)]),
  ];
}

/** The part of a job from which its keys are made. */
interface KeyedJob {
  readonly intent: Pick<IntentFacts, "origin" | "measuredBy">;
  readonly transactionId: string | null;
  readonly answer: Answer;
}

/** The keys of a job before the content of a message's media is known. */
export function keysOfJob({ intent, transactionId, answer }: KeyedJob): readonly string[] {
  return keysOf({ ...intent, transactionId, answer });
}

/** The keys of a job whose media are known. */
export function keysOfWhole(
  job: KeyedJob & { readonly items: ReadonlyMap<string, { readonly sha256: string }> },
): readonly string[] {
  const keys = keysOfJob(job);
  return keys.length > 0 ? keys : [contentKey(job.transactionId, job.answer, job.items.values())];
}

/** The keys of the job of a package, from its manifest. */
export function keysOfManifest(manifest: Manifest): IndexKeys {
  const { source, cloud, transactionId, items, measuredBy = null } = manifest;
  const answer = answerOfManifest(manifest);
  // Version 0.1 states where each medium came from; later versions name a cloud only if one was asked.
  const origin = source === "cloud" ? (cloud ?? "") : cloud;
  const [own = contentKey(transactionId, answer, items), measure = null] = keysOf({
    origin,
    transactionId,
    measuredBy,
    answer,
  });
  return { own, measure };
}

/** The SHA-256 of a job's measurement and of the exact answer from which it was read. */
export interface Answer {
  readonly measurement: string | null;
  readonly raw: string | null;
}

export function answerOf({ measurement, raw }: Pick<Intent, "measurement" | "raw">): Answer {
  return { measurement: hashOf(measurement), raw: hashOf(raw) };
}

export function answerOfManifest({ measurement, raw }: Manifest): Answer {
  return { measurement: measurement?.sha256 ?? null, raw: raw?.sha256 ?? null };
}

/**
 * Whether a job brings another measurement than the one that is archived under its transaction; it must not be lost.
 * The exact answers decide this, because a measurement from a webhook and the same one from a device have different
 * texts.
 */
export function isOtherAnswer(given: Answer, archived: Answer): boolean {
  if (given.raw !== null && archived.raw !== null) {
    return given.raw !== archived.raw;
  }
  const areBothRead = given.raw === null && archived.raw === null;
  const areBoth = given.measurement !== null && archived.measurement !== null;
  return areBothRead && areBoth && given.measurement !== archived.measurement;
}

function hashOf(text: string | null): string | null {
  return text === null ? null : sha256Of(text);
}

function digest(parts: readonly string[]): string {
  return sha256Of(JSON.stringify(parts)).slice(0, 32);
}

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
export const keepMs = 90 * dayMs;

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
