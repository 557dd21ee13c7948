import * as v from "valibot";
import { jsonText } from "../../model/json-text.ts";
import { recordLimits } from "../../model/parse-json.ts";
import { sha256Of } from "../../model/sha256.ts";
import { decodeTransactionRecord } from "../../model/transaction-record.ts";
import type { Condition, Row, SqlValue, Statement } from "../../database/database.ts";
import { identity } from "../../database/inbox.ts";
import { indexedText } from "../../database/indexed-text.ts";
import { localMeasurement, referenceNames, type LocalMeasurement } from "./local-measurement.ts";
import { mostAlike, nearMs, type Candidate, type MeasurementSearch } from "./match.ts";

/** A job and the measurement that it archives. */
export interface JobOfMeasurement {
  readonly job: string;
  /** The key by which two jobs of the same measurement are recognized. */
  readonly key: string;
  readonly acceptedAt: Date;
}

const columns = {
  transactionReference: "transaction_reference",
  customReference1: "custom_reference_1",
  customReference2: "custom_reference_2",
  customReference3: "custom_reference_3",
} as const;

/**
 * After the job of a measurement has ended, it is not known whether its record will still arrive; so long it is
 * considered.
 */
const isOpen = `EXISTS
  (SELECT 1 FROM jobs WHERE jobs.job_id = measurements.job_id AND jobs.state NOT IN ('reported', 'failed'))`;

const mostCandidates = 200;
/** How long the transaction of a measurement is kept after its job has ended. */
export const keepMs = 90 * 24 * 3_600_000;

/**
 * The reference by which the records of a measurement are looked up: the first one that was sent. Null if none was.
 */
export function lookUpBy({ references }: LocalMeasurement) {
  const name = referenceNames.find((one) => (references[one] ?? "") !== "");
  const value = name === undefined ? null : references[name];
  return name === undefined || value === null ? null : { column: columns[name], value };
}

/**
 * Returns the statement that notes a measurement whose transaction is searched for, in the transaction that accepts its
 * job: other measurements do not take a record that may be this one's. A measurement that is known already keeps its
 * transaction.
 */
export function noteSearch({ key, job, acceptedAt }: JobOfMeasurement, local: LocalMeasurement): Statement {
  return {
    sql: `INSERT INTO measurements (measurement_key, job_id, accepted_at, reference, sent_at, facts)
      VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (measurement_key) DO UPDATE SET job_id = excluded.job_id, accepted_at = excluded.accepted_at`,
    values: [
      key,
      job,
      acceptedAt.toISOString(),
      indexedText(lookUpBy(local)?.value ?? null),
      inOrder(local.sentAt),
      JSON.stringify(local),
    ],
  };
}

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

/** Returns the statement that keeps what is known of a measurement while jobs for it are accepted. */
export function keepMeasurement({ key, job, acceptedAt }: JobOfMeasurement): Statement {
  return {
    sql: "UPDATE measurements SET job_id = ?, accepted_at = ? WHERE measurement_key = ?",
    values: [job, acceptedAt.toISOString(), key],
  };
}

/** Returns the statement that reads the integer id of a measurement's transaction, if its id is a GUID. */
export function legacyIdStatement(key: string): Statement {
  return { sql: "SELECT legacy_id FROM measurements WHERE measurement_key = ?", values: [key] };
}

/**
 * Returns the statement that assigns a transaction to a measurement. It returns a row exactly if the transaction is
 * this measurement's now, or was before.
 */
export function claim(key: string, { transactionId, legacyId }: TransactionIds, at: Date): Statement {
  const ids = [identity(transactionId), identity(legacyId ?? transactionId)];
  return {
    sql: `UPDATE measurements SET transaction_id = ?, legacy_id = ?, found_at = coalesce(found_at, ?)
      WHERE measurement_key = ? AND (transaction_id IS NULL OR transaction_id IN (?, ?) OR legacy_id IN (?, ?))
        AND NOT EXISTS (SELECT 1 FROM measurements AS other WHERE other.measurement_key <> ? AND other.transaction_id IN (?, ?))
        AND NOT EXISTS (SELECT 1 FROM measurements AS other WHERE other.measurement_key <> ? AND other.legacy_id IN (?, ?))
      RETURNING transaction_id`,
    values: [
      ids[0] ?? null,
      legacyId === null ? null : identity(legacyId),
      at.toISOString(),
      key,
      ...ids,
      ...ids,
      key,
      ...ids,
      key,
      ...ids,
    ],
  };
}

/** Returns the condition that a measurement has a transaction, by the id with which it was assigned. */
export function isClaimed(key: string, transactionId: string): Condition {
  return {
    sql: "EXISTS (SELECT 1 FROM measurements WHERE measurement_key = ? AND measurements.transaction_id = ?)",
    values: [key, identity(transactionId)],
  };
}

export interface TransactionIds {
  readonly transactionId: string;
  readonly legacyId: string | null;
}

/** What the database contains about a measurement whose transaction is searched for. */
export interface Situation {
  /** The transaction that was assigned before, as the database has it. */
  readonly found: TransactionIds | null;
  readonly others: readonly MeasurementSearch[];
  readonly candidates: readonly Candidate[];
}

/** Returns the statements whose rows `readSituation` reads. */
export function situationStatements({ key, local }: MeasurementSearch): Statement[] {
  const tag = indexedText(local.tag);
  const sentAt = Date.parse(local.sentAt);
  const at = (ms: number): string => new Date(ms).toISOString();
  const lookUp = lookUpBy(local);
  // Whoever compares the records that are found compares the whole references.
  const reference = indexedText(lookUp?.value ?? null);
  const anyColumn = Object.values(columns).map((column) => `${column} = ?`);
  return [
    {
      sql: "SELECT transaction_id, legacy_id FROM measurements WHERE measurement_key = ? AND transaction_id IS NOT NULL",
      values: [key],
    },
    {
      sql: `SELECT measurement_key, facts FROM measurements
        WHERE reference = ? AND sent_at >= ? AND sent_at <= ? AND transaction_id IS NULL AND measurement_key <> ?
          AND ${isOpen}
        ORDER BY sent_at LIMIT ?`,
      values: [reference, at(sentAt - nearMs), at(sentAt + nearMs), key, mostAlike + 1],
    },
    free(key, `${lookUp?.column ?? "transaction_reference"} = ? AND received_at >= ? AND received_at <= ?`, [
      reference,
      at(sentAt),
      at(sentAt + nearMs),
    ]),
    free(key, `(${anyColumn.join(" OR ")})`, [tag, tag, tag, tag]),
  ];
}

/** Records that were not assigned to another measurement. */
function free(key: string, which: string, values: readonly SqlValue[]): Statement {
  const taken = (column: string): string =>
    `NOT EXISTS (SELECT 1 FROM measurements AS other WHERE other.measurement_key <> ?
      AND other.${column} IN (records.transaction_id, records.legacy_id))`;
  return {
    sql: `SELECT record_id, received_at, record, record_sha256 FROM records
      WHERE ${which} AND ${taken("transaction_id")} AND ${taken("legacy_id")}
      ORDER BY received_at LIMIT ?`,
    values: [...values, key, key, mostCandidates],
  };
}

export function readSituation([own, others, near, tagged]: readonly (readonly Row[])[]): Situation {
  const [found] = own ?? [];
  const records = new Map([...(near ?? []), ...(tagged ?? [])].map((row) => [Number(row["record_id"]), row]));
  return {
    found:
      found === undefined
        ? null
        : {
            transactionId: String(found["transaction_id"]),
            legacyId: found["legacy_id"] === null ? null : String(found["legacy_id"]),
          },
    others: (others ?? []).map(readSearch).filter((one) => one !== null),
    candidates: [...records.values()].map(readCandidate).filter((one) => one !== null),
  };
}

/** Returns the statement that removes old measurements; to be run from time to time. */
export function removeOldMeasurements(now: Date): Statement {
  return {
    sql: `DELETE FROM measurements WHERE accepted_at < ? AND NOT ${isOpen}`,
    values: [new Date(now.getTime() - keepMs).toISOString()],
  };
}

/** Reads a row; null if its content is not what was written, which `dimensioner verify` reports. */
function readCandidate(row: Row): Candidate | null {
  const text = String(row["record"]);
  return sha256Of(text) === row["record_sha256"]
    ? { record: decodeTransactionRecord(JSON.parse(text)), receivedAt: new Date(String(row["received_at"])) }
    : null;
}

function readSearch(row: Row): MeasurementSearch | null {
  const read = v.safeParse(v.pipe(jsonText(recordLimits), localMeasurement), row["facts"]);
  return read.success ? { key: String(row["measurement_key"]), local: read.output } : null;
}

/** Formats a time so that the order of the texts is the order of the times. */
function inOrder(time: string): string {
  return new Date(time).toISOString();
}
