import type { Intent } from "../packages/intent.ts";
import type { Manifest } from "../packages/manifest.ts";
import { sha256Of } from "../../model/sha256.ts";

/** What makes two jobs for a transaction of a cloud the same. */
export function cloudKey(origin: string | null, transactionId: string): string {
  return digest(["cloud", origin ?? "", transactionId]);
}

/**
 * Of messages that bring their media: the same id with the same content. Other content under the same id is other
 * evidence, and gets a package of its own.
 */
export function contentKey(
  transactionId: string,
  { raw, measurement }: Answer,
  items: Iterable<{ readonly sha256: string }>,
): string {
  const media = [...items].map(({ sha256 }) => sha256);
  return digest(["message", transactionId, raw ?? measurement ?? "", ...media.toSorted()]);
}

/** The key of the job that a package was made by: the manifest says all that is in it. */
export function keyOfManifest(manifest: Manifest): string {
  const { source, cloud, transactionId, items } = manifest;
  return source === "cloud"
    ? cloudKey(cloud, transactionId)
    : contentKey(transactionId, answerOfManifest(manifest), items);
}

/** The SHA-256 of a job's measurement and of the exact answer that it comes from. */
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
 * Whether a job brings another measurement than the one that is archived under its transaction, which must not be lost. The exact
 * answers tell it; a measurement that was read from a webhook and one that was read from a device say the same in different words.
 */
export function isOtherAnswer(given: Answer, archived: Answer): boolean {
  if (given.raw !== null && archived.raw !== null) {
    return given.raw !== archived.raw;
  }
  if (archived.raw === null && archived.measurement === null) {
    return given.raw !== null || given.measurement !== null;
  }
  const areBothRead = given.raw === null && archived.raw === null && given.measurement !== null;
  return areBothRead && given.measurement !== archived.measurement;
}

function hashOf(text: string | null): string | null {
  return text === null ? null : sha256Of(text);
}

function digest(parts: readonly string[]): string {
  return sha256Of(JSON.stringify(parts)).slice(0, 32);
}
