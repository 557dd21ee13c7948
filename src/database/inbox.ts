import { sha256Of } from "../model/sha256.ts";
import type { Correction, TransactionRecord } from "../model/shapes.ts";
import { contentOf, correctionOf, decodeTransactionRecord, outlineOf } from "../model/transaction-record.ts";
import {
  type Condition,
  type Database,
  type Row,
  type SqlValue,
  type Statement,
  skipLocked,
  marksFor,
} from "./database.ts";
import { lengthOf, records as texts, withTexts } from "./long-texts.ts";
import { indexedText } from "./schema.ts";
import { isOldBySteady, timeToRemove } from "./hourly-removal.ts";
import { type Worker, endedWorkers } from "./worker-lease.ts";
import { dayMs, type SteadyTime, steadyTime } from "../time/clocks.ts";

export interface InboxOptions {
  /** The node that receives the records; it finds them again after a restart. */
  readonly nodeId: string;
  /**
   * Different for each start of the process: records that an earlier run has sent and nobody has handled are sent
   * again.
   */
  readonly runId: string;
  /** Which worker on the database the process is; not given: the only one. */
  readonly worker?: Worker;
  /** Notified of each record that is kept. */
  readonly arrivals?: RecordArrivals;
  /** For tests. */
  readonly now?: () => Date;
  /** For tests, whose own clock of the day has none beside it. */
  readonly steady?: () => SteadyTime | null;
}

/** A record that is to be sent. */
export interface InboxRecord {
  readonly recordId: number;
  readonly record: TransactionRecord;
  /** Length of the record's text. */
  readonly bytes: number;
  /** The record of the same transaction that came before with another content; null if there is none. */
  readonly corrects: Correction | null;
  /** Whether an earlier run of the process has received it. */
  readonly isResumed: boolean;
}

/** A page of the records that are to be sent, in the order of arrival. */
export interface Unsent {
  readonly records: readonly InboxRecord[];
  /** Rows whose content is not what was written. They are left as they are. */
  readonly damaged: readonly number[];
  /** The highest number that was read, from which to continue; the given one if nothing was read. */
  readonly last: number;
  /** Whether there may be more records. */
  readonly hasMore: boolean;
}

/** What has not been handled for so long is worth a warning. It is sent again nevertheless: the clock may have been wrong. */
const longUnhandledMs = 7 * dayMs;
/** How long a handled record can be looked up, and recognized as a duplicate. */
const keepHandledMs = 90 * dayMs;
/** How many records are removed in one transaction. */
const mostRemoved = 1_000;
/** With how many records of its transaction a new one is compared; a transaction has one, or two if it was corrected. */
const mostCompared = 100;
/** How many records are taken over in one transaction. */
const mostTaken = 500;

/**
 * The records that a webhook has received. Each is in the database before the response to its sender, and stays
 * unhandled until it is marked as handled.
 */
export class Inbox {
  readonly #database: Database;
  readonly #nodeId: string;
  readonly #runId: string;
  readonly #worker: Worker | undefined;
  readonly #arrivals: RecordArrivals | undefined;
  readonly #now: () => Date;
  readonly #steady: () => SteadyTime | null;

  constructor(
    database: Database,
    {
      nodeId,
      runId,
      worker,
      arrivals,
      now,
      steady = now === undefined ? steadyTime : () => null,
    }: InboxOptions,
  ) {
    this.#database = database;
    this.#nodeId = nodeId;
    this.#runId = runId;
    this.#worker = worker;
    this.#arrivals = arrivals;
    this.#now = now ?? (() => new Date());
    this.#steady = steady;
  }

  /**
   * Keeps a record. Resolves with its number when it is durable, or with null if the same transaction arrived with the same content
   * within `dedupeMs` before: by the clock that nobody sets, and by that of the day for what came before the computer was started.
   * Rejects with ERR_STORE: then it is not kept, or it is not known whether it is.
   */
  async add(record: TransactionRecord, dedupeMs: number): Promise<number | null> {
    const steady = this.#steady();
    const clock = steady?.clock ?? "";
    const since: Condition = {
      sql: "((steady_clock = ? AND received_steady_ms > ?) OR (coalesce(steady_clock, '-') <> ? AND received_at > ?))",
      values: [
        clock,
        Math.floor((steady?.ms ?? 0) - dedupeMs),
        clock,
        new Date(this.#now().getTime() - dedupeMs).toISOString(),
      ],
    };
    const content = contentOf(record);
    // Hardly any record has others of its transaction: only then they are read, and again if one more has arrived meanwhile.
    for (let others: readonly number[] = []; ;) {
      const recordId = await this.#insert(record, since, others);
      if (recordId !== null) {
        this.#arrivals?.tell(record);
        return recordId;
      }
      const rows = await this.#ofTransaction(record, since);
      for await (const row of withTexts(this.#database, texts, rows)) {
        if (contentOfRow(row) === content) {
          return null;
        }
      }
      others = rows.map((row) => Number(row["record_id"]));
    }
  }

  /** Returns the last rows of a record's transaction for which the condition holds: without their texts. */
  async #ofTransaction(
    { transactionId, legacyId }: TransactionRecord,
    { sql: condition, values }: Condition,
  ): Promise<readonly Row[]> {
    const ids = [identity(transactionId), identity(legacyId ?? transactionId)];
    const [rows = []] = await this.#database.transaction([
      {
        sql: `SELECT record_id, received_at, ${lengthOf(texts)} FROM records
          WHERE node_id = ? AND ${condition} AND (transaction_id IN (?, ?) OR legacy_id IN (?, ?))
          ORDER BY record_id DESC LIMIT ?`,
        values: [this.#nodeId, ...values, ...ids, ...ids, mostCompared],
      },
    ]);
    return rows;
  }

  /** Returns null if the transaction has a record for which `since` holds, and that is none of the others. */
  async #insert(
    record: TransactionRecord,
    since: Condition,
    others: readonly number[],
  ): Promise<number | null> {
    const { transactionId, legacyId, transactionReference } = record;
    const { customReference1, customReference2, customReference3 } = record;
    const text = JSON.stringify(record);
    const steady = this.#steady();
    const [rows = []] = await this.#database.transaction([
      {
        sql: `INSERT INTO records
            (node_id, transaction_id, legacy_id, transaction_reference, custom_reference_1, custom_reference_2,
              custom_reference_3, received_at, received_by_run, steady_clock, received_steady_ms, record, record_sha256, device_serial_number,
              device_certificate, worker_id)
          SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
          WHERE NOT EXISTS (SELECT 1 FROM records WHERE node_id = ? AND ${since.sql}
            AND (transaction_id IN (?, ?) OR legacy_id IN (?, ?))${isNoneOf(others)})
          RETURNING record_id`,
        values: [
          this.#nodeId,
          identity(transactionId),
          legacyId === null ? null : identity(legacyId),
          indexedText(transactionReference),
          indexedText(customReference1),
          indexedText(customReference2),
          indexedText(customReference3),
          this.#now().toISOString(),
          this.#runId,
          steady?.clock ?? null,
          steady?.ms ?? null,
          text,
          sha256Of(text),
          record.deviceSerialNumber,
          record.deviceCertificate,
          this.#worker?.id ?? null,
          this.#nodeId,
          ...since.values,
          identity(transactionId),
          identity(legacyId ?? transactionId),
          identity(transactionId),
          identity(legacyId ?? transactionId),
          ...others,
        ],
      },
    ]);
    const [added] = rows;
    return added === undefined ? null : Number(added["record_id"]);
  }

  /**
   * Takes over the records of workers whose lease has ended, so that `unsent` returns them. Each goes to one worker. Returns how many
   * there were.
   */
  async takeOver(): Promise<number> {
    const worker = this.#worker;
    if (worker === undefined || worker.isAlone) {
      return 0;
    }
    const ended = endedWorkers(0);
    const [taken = []] = await this.#database.transaction([
      {
        sql: `UPDATE records SET worker_id = ? WHERE record_id IN
          (SELECT record_id FROM records WHERE node_id = ? AND handled_at IS NULL
            AND worker_id IN (${ended.sql}) LIMIT ? ${skipLocked}) RETURNING record_id`,
        values: [worker.id, this.#nodeId, ...ended.values, mostTaken],
      },
    ]);
    return taken.length;
  }

  /**
   * Returns a page of the records of this worker that nobody has handled and this run has not sent, beginning after this
   * number.
   */
  async unsent(after: number, limit: number): Promise<Unsent> {
    const own = this.#own();
    const [rows = []] = await this.#database.transaction([
      {
        sql: `SELECT record_id, received_by_run, ${lengthOf(texts)}, ${hasEarlier} AS has_earlier FROM records
          WHERE node_id = ? AND handled_at IS NULL AND record_id > ?
            AND (sent_by_run IS NULL OR sent_by_run <> ?) AND ${own.sql}
          ORDER BY record_id LIMIT ?`,
        values: [this.#nodeId, after, this.#runId, ...own.values, limit],
      },
    ]);
    const read: (InboxRecord | number)[] = [];
    for await (const row of withTexts(this.#database, texts, rows)) {
      const one = readRow(row, this.#runId);
      const hasOthers = typeof one !== "number" && Number(row["has_earlier"]) === 1;
      read.push(hasOthers ? { ...one, corrects: await this.#corrects(one) } : one);
    }
    return {
      records: read.filter((one) => typeof one !== "number"),
      damaged: read.filter((one) => typeof one === "number"),
      last: Number(rows.at(-1)?.["record_id"] ?? after),
      hasMore: rows.length === limit,
    };
  }

  async #corrects({ record, recordId }: InboxRecord): Promise<Correction | null> {
    const content = contentOf(record);
    const rows = await this.#ofTransaction(record, { sql: "record_id < ?", values: [recordId] });
    for await (const row of withTexts(this.#database, texts, rows)) {
      const other = readRow(row, "");
      if (typeof other !== "number" && contentOf(other.record) !== content) {
        const { transactionId } = other.record;
        const before = {
          transactionId,
          receivedAt: String(row["received_at"]),
          outline: outlineOf(other.record),
        };
        return correctionOf(before, outlineOf(record));
      }
    }
    return null;
  }

  /** Counts the records that arrived more than a week ago, by this computer's clock, and that nobody has handled. */
  async countLongUnhandled(): Promise<number> {
    const before = new Date(this.#now().getTime() - longUnhandledMs).toISOString();
    const [rows = []] = await this.#database.transaction([
      {
        sql: "SELECT count(*) AS count FROM records WHERE node_id = ? AND handled_at IS NULL AND received_at < ?",
        values: [this.#nodeId, before],
      },
    ]);
    return Number(rows[0]?.["count"] ?? 0);
  }

  /** Notes that these records were sent in this run: a deploy does not send them again, a restart does. */
  async sent(recordIds: readonly number[]): Promise<void> {
    const now = this.#now().toISOString();
    const own = this.#own();
    await this.#database.transaction(
      recordIds.map((recordId) => ({
        sql: `UPDATE records SET sent_at = COALESCE(sent_at, ?), sent_by_run = ? WHERE record_id = ? AND ${own.sql}`,
        values: [now, this.#runId, recordId, ...own.values],
      })),
    );
  }

  /** Marks the records of a transaction as handled; returns how many there were. */
  async handled(
    transactionId: string,
    parcel: HandledParcel = { billable: null, scan: null },
  ): Promise<number> {
    const id = identity(transactionId);
    // An index leads to each of the two ids. With an OR, SQLite would read all unhandled records of the node.
    const [rows = []] = await this.#database.transaction([
      {
        sql: `UPDATE records SET ${handledColumns}
          WHERE node_id = ? AND handled_at IS NULL AND ${wasReceived} AND record_id IN
            (SELECT record_id FROM records WHERE transaction_id = ?
              UNION SELECT record_id FROM records WHERE legacy_id = ?) RETURNING record_id`,
        values: [...handledValues(this.#nodeId, this.#now(), parcel), this.#nodeId, id, id],
      },
    ]);
    return rows.length;
  }

  /** Removes some records that were handled and arrived long ago, and returns whether there may be more. */
  async removeOld(): Promise<boolean> {
    const now = await timeToRemove(this.#database, this.#now());
    const before = new Date(now.getTime() - keepHandledMs).toISOString();
    const isOld = isOldBySteady("received_steady_ms", keepHandledMs, this.#steady());
    const [removed = []] = await this.#database.transaction([
      {
        sql: `DELETE FROM records WHERE record_id IN
          (SELECT record_id FROM records WHERE received_at < ? AND handled_at IS NOT NULL AND ${isOld.sql} LIMIT ? ${skipLocked})
          RETURNING record_id`,
        values: [before, ...isOld.values, mostRemoved],
      },
    ]);
    return removed.length === mostRemoved;
  }

  /** The condition for records of this worker; one that is alone has all. */
  #own(): Condition {
    const worker = this.#worker;
    return worker === undefined || worker.isAlone
      ? { sql: "TRUE", values: [] }
      : { sql: "worker_id = ?", values: [worker.id] };
  }
}

/** Whether the node has received another text of the same transaction before; an index leads to each of the two ids. */
const hasEarlier = `(CASE WHEN ${["transaction_id", "legacy_id"]
  .map(
    (column) => `EXISTS (SELECT 1 FROM records AS earlier WHERE earlier.node_id = records.node_id
      AND earlier.record_id < records.record_id AND earlier.record_sha256 <> records.record_sha256
      AND earlier.${column} IN (records.transaction_id, records.legacy_id))`,
  )
  .join(" OR ")} THEN 1 ELSE 0 END)`;

/**
 * A condition for records that the flow may have meant when it says that a transaction is handled: a correction that it has not
 * received yet is none of them.
 */
const wasReceived = `(sent_at IS NOT NULL OR ${hasEarlier} = 0)`;

/** Of those that were compared, which are the last. */
function isNoneOf(recordIds: readonly number[]): string {
  const list = marksFor(recordIds);
  const isLater = recordIds.length < mostCompared ? "" : ` AND record_id > ${Math.min(...recordIds)}`;
  return recordIds.length === 0 ? "" : `${isLater} AND record_id NOT IN (${list})`;
}

/** Returns null for a row whose content is not what was written. */
function contentOfRow(row: Row): string | null {
  const read = readRow(row, "");
  return typeof read === "number" ? null : contentOf(read.record);
}

/** Reads the record of a row, or returns the row's number if its content is not what was written. */
function readRow(row: Row, runId: string): InboxRecord | number {
  const recordId = Number(row["record_id"]);
  const text = String(row["record"]);
  if (sha256Of(text) !== row["record_sha256"]) {
    return recordId;
  }
  return {
    recordId,
    record: decodeTransactionRecord(JSON.parse(text)),
    bytes: Buffer.byteLength(text),
    corrects: null,
    isResumed: row["received_by_run"] !== runId,
  };
}

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
      WHERE handled_at IS NULL AND (transaction_id = ? OR legacy_id = ?) AND ${wasReceived} AND ${condition.sql}`,
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
const handledColumns = `handled_at = ?, handled_by = ?, billable_weight = ?, billable_unit = ?,
  billable_legal_for_trade = ?, scan = ?`;

/** `by` is the node or the job that has handled the records. */
function handledValues(by: string, at: Date, { billable, scan }: HandledParcel): SqlValue[] {
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

type Listener = (record: TransactionRecord) => void;

/** Notifies those who wait for a record when this process has put it into the database. */
export class RecordArrivals {
  readonly #listeners = new Map<string, Set<Listener>>();

  /** Calls the listener for each record with one of these references, until the returned function is called. */
  on(references: readonly string[], listener: Listener): () => void {
    for (const reference of references) {
      const listeners = this.#listeners.get(reference) ?? new Set();
      this.#listeners.set(reference, listeners.add(listener));
    }
    return () => {
      for (const reference of references) {
        const listeners = this.#listeners.get(reference);
        listeners?.delete(listener);
        if (listeners?.size === 0) {
          this.#listeners.delete(reference);
        }
      }
    };
  }

  tell(record: TransactionRecord): void {
    const { transactionReference, customReference1, customReference2, customReference3 } = record;
    const references = [transactionReference, customReference1, customReference2, customReference3];
    const listeners = references.flatMap((reference) => [...(this.#listeners.get(reference ?? "") ?? [])]);
    new Set(listeners).forEach((listener) => listener(record));
  }
}
