import type { Reading } from "./instruments.ts";

/** The result of a run of messages through one deploy. */
export interface MessagesReport {
  readonly before: Reading;
  readonly after: Reading;
  readonly sent: number;
  readonly failed: number;
  readonly surprises: readonly string[];
  readonly warnings: readonly string[];
}

/** The result of a run of deploys under load, with nothing deployed before and after it. */
export interface RedeploysReport {
  readonly before: Reading;
  readonly after: Reading;
  /** Messages that nodes have received, and those that have ended. */
  readonly begun: number;
  readonly ended: number;
  /** Posts that the webhook has taken. */
  readonly posted: number;
  readonly metBusy: number;
  /** Connections that were still there when everything had been taken away, before and after. */
  readonly unclosed: readonly number[];
  readonly surprises: readonly string[];
  readonly warnings: readonly string[];
}
