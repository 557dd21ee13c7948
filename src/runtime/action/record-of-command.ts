import type { CommandFacts } from "../../database/command-table.ts";
import type { Database, Row } from "../../database/database.ts";
import { identity } from "../../database/inbox.ts";
import { situationStatements } from "../../jobs/transactions.ts";
import { referenceNames } from "../../model/local-measurement.ts";
import { parseJson, recordLimits } from "../../model/parse-json.ts";
import { sha256Of } from "../../model/sha256.ts";
import type { TransactionRecord } from "../../model/shapes.ts";
import { decodeTransactionRecord } from "../../model/transaction-record.ts";

const noFigures = {
  length: null,
  width: null,
  height: null,
  dimsUnit: null,
  step: null,
  weight: null,
  weightUnit: null,
};

/** A measure whose answer was lost. */
interface LostMeasure {
  readonly id: string;
  readonly sentAt: Date;
  readonly facts: CommandFacts;
}

/**
 * Finds the webhook's record of a successful measure whose answer was lost, by the rules by which jobs find theirs; but there are no
 * dimensions to compare. So it is found by the unique tag, or else by its references, if it is the only transaction with them that came
 * within an hour and no other measurement looks for one. Null if there is none, or not exactly one. Rejects with ERR_STORE.
 */
export async function recordOfMeasure(
  database: Pick<Database, "transaction">,
  { id, sentAt, facts: { references, tag } }: LostMeasure,
): Promise<TransactionRecord | null> {
  const local = { sentAt: sentAt.toISOString(), references, tag, ok: true, deviceUtcTime: null };
  const search = { key: id, local: { ...local, figures: noFigures } };
  const [, others = [], near = [], tagged = []] = await database.transaction(situationStatements(search));
  const rows = tag === null ? near : tagged;
  const fitting = rows.map(recordIn).filter((record) => {
    if (record === null || !record.ok) {
      return false;
    }
    const given = referenceNames.filter((name) => (record[name] ?? "") !== "");
    return tag === null
      ? given.length > 0 && given.every((name) => record[name] === references[name])
      : given.some((name) => record[name] === tag);
  });
  const [first = null] = fitting;
  const isOne = new Set(fitting.map((record) => identityOf(record))).size === 1;
  return isOne && (tag !== null || others.length === 0) ? first : null;
}

/** The cloud may post one record in both versions of its IDs. */
function identityOf(record: TransactionRecord | null): string {
  return identity(record?.legacyId ?? record?.transactionId ?? "");
}

function recordIn(row: Row): TransactionRecord | null {
  const text = String(row["record"]);
  return sha256Of(text) === row["record_sha256"]
    ? decodeTransactionRecord(parseJson(text, recordLimits))
    : null;
}
