import type { Reading } from "./instruments.ts";

/**
 * What a run of messages through one deploy leaves. The heap can be some megabytes larger without a leak, so that a run
 * after which it has grown by more than it may is made again, twice at most: what leaks grows with every run.
 */
export interface MessagesReport {
  /** How many runs were made; the readings are those before and after the last. */
  readonly runs: number;
  readonly before: Reading;
  readonly after: Reading;
  readonly sent: number;
  readonly failed: number;
  readonly seconds: number;
  readonly surprises: readonly string[];
  readonly warnings: readonly string[];
}

/** What a run of deploys under load leaves, with nothing deployed before and after; made again like those of messages. */
export interface RedeploysReport {
  readonly runs: number;
  readonly before: Reading;
  readonly after: Reading;
  /** Messages that nodes have received, and those that have ended. */
  readonly begun: number;
  readonly ended: number;
  /** Posts that the webhook has taken. */
  readonly posted: number;
  readonly metBusy: number;
  /** Connections that were still there when everything had been taken away, each time. */
  readonly unclosed: readonly number[];
  readonly seconds: number;
  readonly surprises: readonly string[];
  readonly warnings: readonly string[];
}
