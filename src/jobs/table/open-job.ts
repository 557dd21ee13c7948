import type { Intent, IntentFacts, PlacedPackage, StoredItem } from "../../vault/packages/intent.ts";
import { answerOf, type Answer } from "./job-keys.ts";
import type { StoredJob } from "./job-rows.ts";
import type { JobState } from "./job-states.ts";

/** A job that was accepted and whose message was not sent yet. */
export interface OpenJob {
  readonly id: string;
  /** The id of the node that accepted it. */
  readonly node: string;
  readonly acceptedAt: Date;
  /**
   * The start of the time that it has been open, in `performance.now()`, without the time between two runs: correcting
   * the clock does not make a job old.
   */
  readonly sinceMs: number;
  readonly intent: IntentFacts;
  /** The hashes of its measurement and exact answer. */
  readonly answer: Answer;
  /** The size of its long texts, which are in the database. */
  readonly textBytes: number;
  /** Whether an earlier run has accepted it. */
  readonly isResumed: boolean;
  /** Its state in the database. */
  state: JobState;
  /** The key of the job; null until the content of a message's media is known. */
  key: string | null;
  /** The given or found id of the transaction. */
  transactionId: string | null;
  /** The stored media by slot (item-slots.ts). */
  items: Map<string, StoredItem>;
  /** Media of messages that are not on the disk as they were stored, by slot: they are missing until they arrive again. */
  readonly lost: Map<string, StoredItem>;
  /** Those that are in the work folder, and of which it is not known that the database has noted them. */
  readonly unnoted: Map<string, StoredItem>;
  /** The number of parts of the sequence, once one of them has stated it. */
  count: number | null;
  /** How long it has waited for missing media. */
  waitedMs: number;
  /** Work of a closed node that a hanging disk delays; null if there is none. */
  earlier: Promise<unknown> | null;
  /** Its package. */
  placed: PlacedPackage | null;
}

/** An open job as an earlier process has left it. */
export function resumed(job: StoredJob): OpenJob {
  const { openMs, intent, ...rest } = job;
  return {
    ...rest,
    intent: factsOf(intent),
    answer: answerOf(intent),
    textBytes: textBytesOf(intent),
    // Without the wall clock, which may be wrong by years, then or now.
    sinceMs: performance.now() - openMs,
    unnoted: new Map(),
    earlier: null,
    isResumed: true,
  };
}

/** To be called when a job has media in the database, or waits for some. */
export function beginCollecting(job: OpenJob): void {
  if (job.state === "accepted") {
    job.state = "collecting";
  }
}

/** Whether there is anything to make a package of: a medium, the measurement or the exact answer. */
export function hasContent({ items, answer }: Pick<OpenJob, "items" | "answer">): boolean {
  return items.size > 0 || answer.measurement !== null || answer.raw !== null;
}

/** What memory keeps of an intent: its long texts are in the database. */
export function factsOf({
  measurement: _measurement,
  raw: _raw,
  keep: _keep,
  ...facts
}: Intent): IntentFacts {
  return facts;
}

/** Estimates the size of a job: two bytes per character, and a fixed amount. */
export function textBytesOf({ measurement, raw, keep }: Intent): number {
  const characters = (measurement?.length ?? 0) + (raw?.length ?? 0) + JSON.stringify(keep).length;
  return 2 * characters + 1_000;
}
