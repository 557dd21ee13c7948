import * as v from "valibot";
import { sha256Of } from "../../model/sha256.ts";
import { decodeTransactionRecord } from "../../model/transaction-record.ts";
import type { Row, SqlValue, Statement } from "../../store/database.ts";
import { identity } from "../../store/inbox.ts";
import { localMeasurement, referenceNames, type LocalMeasurement } from "./local-measurement.ts";
import { mostAlike, nearMs, type Candidate, type Sought } from "./match.ts";

/** A job and the measurement that it archives. */
export interface JobOfMeasurement {
  readonly job: string;
  /** What makes two jobs of one measurement the same. */
  readonly key: string;
  readonly acceptedAt: Date;
}

const columns = {
  transactionReference: "transaction_reference",
  customReference1: "custom_reference_1",
  customReference2: "custom_reference_2",
  customReference3: "custom_reference_3",
} as const;

/** Of a measurement whose job has ended nobody knows whether its record still comes. */
const isOpen = `EXISTS
  (SELECT 1 FROM jobs WHERE jobs.job_id = measurements.job_id AND jobs.state NOT IN ('told', 'failed'))`;

const mostCandidates = 200;
/** So long it is known after its job has ended which transaction a measurement was given. */
export const keepMs = 90 * 24 * 3_600_000;

/** By which reference the records of a measurement are looked up: the first that was sent. Null where none was. */
export function lookUpBy({ references }: LocalMeasurement) {
  const name = referenceNames.find((one) => (references[one] ?? "") !== "");
  const value = name === undefined ? null : references[name];
  return name === undefined || value === null ? null : { column: columns[name], value };
}

/**
 * Notes a measurement whose transaction is sought, in the transaction that accepts its job: other measurements do not take a
 * record that may be this one's. One that is known already keeps what it was given.
 */
export function noteSought({ key, job, acceptedAt }: JobOfMeasurement, local: LocalMeasurement): Statement {
  return {
    sql: `INSERT INTO measurements (measurement_key, job_id, accepted_at, reference, sent_at, facts)
      VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (measurement_key) DO UPDATE SET job_id = excluded.job_id`,
    values: [
      key,
      job,
      acceptedAt.toISOString(),
      lookUpBy(local)?.value ?? null,
      inOrder(local.sentAt),
      JSON.stringify(local),
    ],
  };
}

/**
 * Notes a measurement whose transaction is known without being sought: no other one is given that transaction. Where one has it
 * already, that stays.
 */
export function noteKnown(
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

/** Asks for the integer id of the transaction that a measurement was given, where its id is a GUID. */
export function askLegacyId(key: string): Statement {
  return { sql: "SELECT legacy_id FROM measurements WHERE measurement_key = ?", values: [key] };
}

/** Gives a measurement its transaction; returns a row exactly where it is this one's now, or was before. */
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

export interface TransactionIds {
  readonly transactionId: string;
  readonly legacyId: string | null;
}

/** What the database says of a measurement whose transaction is sought. */
export interface Situation {
  /** The transaction that it was given before, as the database has it. */
  readonly found: TransactionIds | null;
  readonly others: readonly Sought[];
  readonly candidates: readonly Candidate[];
}

/** Asks for all that `readSituation` reads. */
export function askSituation({ key, local }: Sought): Statement[] {
  const { tag } = local;
  const sentAt = Date.parse(local.sentAt);
  const at = (ms: number): string => new Date(ms).toISOString();
  const lookUp = lookUpBy(local);
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
      values: [lookUp?.value ?? null, at(sentAt - nearMs), at(sentAt + nearMs), key, mostAlike + 1],
    },
    free(key, `${lookUp?.column ?? "transaction_reference"} = ? AND received_at >= ? AND received_at <= ?`, [
      lookUp?.value ?? null,
      at(sentAt),
      at(sentAt + nearMs),
    ]),
    free(key, `(${anyColumn.join(" OR ")})`, [tag, tag, tag, tag]),
  ];
}

/** Records that no other measurement has been given. */
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
    others: (others ?? []).map(readSought).filter((one) => one !== null),
    candidates: [...records.values()].map(readCandidate).filter((one) => one !== null),
  };
}

/** To be called now and then. */
export function removeOldMeasurements(now: Date): Statement {
  return {
    sql: `DELETE FROM measurements WHERE accepted_at < ? AND NOT ${isOpen}`,
    values: [new Date(now.getTime() - keepMs).toISOString()],
  };
}

/** Null where the row is not what was written; `dimensioner-verify` tells of it. */
function readCandidate(row: Row): Candidate | null {
  const text = String(row["record"]);
  return sha256Of(text) === row["record_sha256"]
    ? { record: decodeTransactionRecord(JSON.parse(text)), receivedAt: new Date(String(row["received_at"])) }
    : null;
}

function readSought(row: Row): Sought | null {
  const read = v.safeParse(v.pipe(v.string(), v.parseJson(), localMeasurement), row["facts"]);
  return read.success ? { key: String(row["measurement_key"]), local: read.output } : null;
}

/** Written so that the order of texts is the order of times. */
function inOrder(time: string): string {
  return new Date(time).toISOString();
}
