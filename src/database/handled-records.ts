import type { Condition, SqlValue, Statement } from "./database.ts";

/** What the flow knows about a record's parcel by the time the record is handled. */
export interface HandledParcel {
  /** What is billed; null if that was not calculated. */
  readonly billable: {
    readonly weight: number;
    readonly unit: string;
    readonly legalForTrade: boolean | "unknown";
  } | null;
  /** The scan of its label; null if there was none. */
  readonly scan: { readonly text: string } | null;
}

/**
 * Returns the statement that marks the records of a transaction as handled by a job, whichever node has received them.
 * It belongs to the transaction in which the job gets the transaction's id, so that neither happens without the other.
 */
export function markHandled(
  transactionId: string,
  { id: jobId, intent }: { readonly id: string; readonly intent: HandledParcel },
  at: Date,
  condition: Condition = { sql: "TRUE", values: [] },
): Statement {
  const id = identity(transactionId);
  return {
    sql: `UPDATE records SET ${handledColumns}
      WHERE handled_at IS NULL AND (transaction_id = ? OR legacy_id = ?) AND ${condition.sql}`,
    values: [...handledValues(jobId, at, intent), id, id, ...condition.values],
  };
}

/** Returns the statement that takes back what `markHandled` has noted for a job, if the condition holds. */
export function markUnhandled(transactionId: string, jobId: string, condition: Condition): Statement {
  const id = identity(transactionId);
  return {
    sql: `UPDATE records SET handled_at = NULL, handled_by = NULL, billable_weight = NULL, billable_unit = NULL,
        billable_legal_for_trade = NULL, scan = NULL
      WHERE handled_by = ? AND (transaction_id = ? OR legacy_id = ?) AND ${condition.sql}`,
    values: [jobId, id, id, ...condition.values],
  };
}

/** What an UPDATE sets to mark records as handled, with `handledValues` as its values. */
export const handledColumns = `handled_at = ?, handled_by = ?, billable_weight = ?, billable_unit = ?,
  billable_legal_for_trade = ?, scan = ?`;

/** `by` is the node or the job that has handled the records. */
export function handledValues(by: string, at: Date, { billable, scan }: HandledParcel): SqlValue[] {
  return [
    at.toISOString(),
    by,
    billable?.weight ?? null,
    billable?.unit ?? null,
    billable === null ? null : String(billable.legalForTrade),
    scan?.text ?? null,
  ];
}

/**
 * Normalizes an id for the database: GUIDs may have any case. Version 1 of the records identifies a transaction by the
 * integer that is the legacyId in version 2.
 */
export function identity(id: string): string {
  return id.toLowerCase();
}
