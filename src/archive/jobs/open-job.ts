import type { IntentFacts, PlacedPackage, StoredItem } from "../packages/intent.ts";
import type { JobState } from "./job-states.ts";
import type { Answer } from "./keys.ts";

/** A job that was accepted and whose message has not gone out yet. */
export interface OpenJob {
  readonly id: string;
  /** Id of the node that accepted it. */
  readonly node: string;
  readonly acceptedAt: Date;
  /**
   * Since when it is open, in `performance.now()`, the time between two runs left out: a clock that is put right makes no job
   * old.
   */
  readonly sinceMs: number;
  readonly intent: IntentFacts;
  /** Which measurement it brings. */
  readonly answer: Answer;
  /** Of its long texts, which are in the database. */
  readonly textBytes: number;
  /** True for one that an earlier run has accepted. */
  readonly isResumed: boolean;
  /** As the database has it. */
  state: JobState;
  /** What makes two jobs the same; null until the content of a message's media is known. */
  key: string | null;
  /** As given, or as found. */
  transactionId: string | null;
  /** What is whole on the disk, by slot (slots.ts). */
  items: Map<string, StoredItem>;
  /** How many parts a sequence has, once one of them said so. */
  count: number | null;
  /** How long it has waited for what is missing. */
  waitedMs: number;
  /** What a closed node has left at work on it, where the disk hangs; null where nothing. */
  earlier: Promise<unknown> | null;
  /** Its package. */
  placed: PlacedPackage | null;
}
