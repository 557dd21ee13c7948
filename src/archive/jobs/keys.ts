import { createHash } from "node:crypto";
import type { OpenJob } from "../journal/open-job.ts";
import type { Intent } from "../packages/records.ts";

/** What makes two jobs the same: the transaction, and for another measurement under its id that measurement too. */
export function cloudKeys({ origin, transactionId, raw, measurement }: Intent): string[] {
  const transaction = ["cloud", origin ?? "", transactionId];
  const answer = raw ?? measurement;
  return answer === null ? [digest(transaction)] : [digest(transaction), digest([...transaction, answer])];
}

/** The hashes of a job's measurement and of the exact answer that it comes from. */
export interface Answer {
  readonly measurement: string | null;
  readonly raw: string | null;
}

export function answerOf({ measurement, raw }: Intent): Answer {
  return { measurement: hashOf(measurement), raw: hashOf(raw) };
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

/**
 * Of messages that bring their media: the same id with the same content. Other content under the same id is other
 * evidence, and gets a package of its own.
 */
export function contentKey({ items, intent }: OpenJob): string {
  const slots = [...items].sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }));
  return digest([
    "message",
    intent.transactionId,
    intent.raw ?? intent.measurement ?? "",
    ...slots.map(([, { sha256 }]) => sha256),
  ]);
}

function hashOf(text: string | null): string | null {
  return text === null ? null : createHash("sha256").update(text).digest("hex");
}

function digest(parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 32);
}
