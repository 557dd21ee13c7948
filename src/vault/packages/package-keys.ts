import { sha256Of } from "../../model/sha256.ts";
import type { Intent, IntentFacts } from "./intent.ts";
import type { Manifest } from "./manifest.ts";
import type { IndexKeys } from "./package-index.ts";

/** The key of jobs for a transaction of a cloud. */
export function cloudKey(origin: string | null, transactionId: string): string {
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
