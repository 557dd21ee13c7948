/**
 * Finds the cloud's transaction of a measurement by a device on the local network. The cloud's webhook posts a record of each
 * measurement; which of them belongs to which measurement is decided here, once, even if several jobs look at the same time.
 */
import * as v from "valibot";
import {
  type Condition,
  type Database,
  type Row,
  type SqlValue,
  type Statement,
  skipLocked,
} from "../database/database.ts";
import { type RecordArrivals, identity } from "../database/inbox.ts";
import { lengthOf, records, withTexts } from "../database/long-texts.ts";
import { indexedText } from "../database/schema.ts";
import { type Problem, phrase } from "../errors/interpolation.ts";
import {
  type Figures,
  type LocalMeasurement,
  localMeasurement,
  referenceNames,
} from "../model/local-measurement.ts";
import { recordLimits } from "../model/parse-json.ts";
import { jsonText } from "../model/json-text.ts";
import { sha256Of } from "../model/sha256.ts";
import type { TransactionRecord } from "../model/shapes.ts";
import { decodeTransactionRecord } from "../model/transaction-record.ts";
import { type Moment, dayTimeAsOf, msBetween, type SteadyTime, steadyTime } from "../time/clocks.ts";
import { instantOf } from "../rules/instants.ts";
import { grams, millimeters, readLengthUnit, readWeightUnit } from "../rules/units.ts";
import { type JobOfMeasurement, type TransactionIds, keepMs } from "../vault/packages/package-keys.ts";

/** A job whose transaction is searched for. */
export interface Search extends JobOfMeasurement {
  readonly local: LocalMeasurement;
}

/** Why there is no transaction yet. */
export interface NotFound {
  readonly missing: Problem;
  /** A suitable record is there. It is taken after this time, unless another one like it arrives. */
  readonly settlesInMs?: number;
  /** Nothing was sent by which its record could be recognized: it will never be found. */
  readonly isFinal?: true;
}

/** The transaction of a measurement. */
export interface FoundTransaction {
  /** As the cloud writes it. */
  readonly transactionId: string;
  /** Assigns it to this measurement; returns no row if another one was faster. */
  readonly claim: Statement;
  /** The condition that it is this measurement's. */
  readonly isClaimed: Condition;
}

/** If a tag was sent, a record without it is more likely another measurement's than one whose tag was lost. */
const lostTagFactor = 6;
/** A timer may fire slightly early. */
const timerMs = 20;

/** Finds the cloud's transactions of measurements by devices on the local network, by the webhook's records. */
export class TransactionFinder {
  readonly #database: Database;
  readonly #arrivals: RecordArrivals;
  readonly #now: () => Date;
  readonly #steady: () => SteadyTime | null;
  readonly #settleMs: number;

  constructor({
    database,
    arrivals,
    now,
    steady = now === undefined ? steadyTime : () => null,
    settleMs = 10_000,
  }: {
    readonly database: Database;
    /** Notifies of the records that this process puts into the database. */
    readonly arrivals: RecordArrivals;
    /** For tests. */
    readonly now?: () => Date;
    /** For tests, whose own clock of the day has none beside it. */
    readonly steady?: () => SteadyTime | null;
    /**
     * Without a tag, a record is taken only when it and the job have existed for so long: by then another record like it,
     * or another measurement that it may belong to, has arrived too.
     */
    readonly settleMs?: number | undefined;
  }) {
    this.#database = database;
    this.#arrivals = arrivals;
    this.#now = now ?? (() => new Date());
    this.#steady = steady;
    this.#settleMs = settleMs;
  }

  /** Searches once. Rejects with ERR_STORE. */
  async find(search: Search): Promise<FoundTransaction | NotFound> {
    const { key } = search;
    const { found, accepted, others, candidates } = await readSituation(
      this.#database,
      await this.#database.transaction(situationStatements(search)),
    );
    const local = sentAsOf(accepted, search.local);
    if (found !== null) {
      const before = candidates.find(({ record }) => isSame(record, found));
      return this.#found(key, before?.record ?? found);
    }
    if (local.tag === null && lookUpBy(local) === null) {
      return unfindable();
    }
    const inTime = candidates.filter((one) => isTagged(local, one) || isNear(local, one));
    const match = matchTransaction({ key, local }, others, inTime);
    if (match.kind !== "one") {
      const apartMs = match.kind === "none" ? apartMsOf(local, candidates) : null;
      return { missing: apartMs === null ? explain(match) : explainClock(apartMs) };
    }
    const settlesInMs = match.isByTag ? 0 : this.#settlesInMs(search, accepted, match.candidate);
    return settlesInMs > 0
      ? { missing: phrase("recordMissing"), settlesInMs }
      : this.#found(key, match.candidate.record);
  }

  /**
   * Calls `wake` when this process has received a record that may belong to the measurement, and once more when it can
   * be taken, until the returned function is called.
   */
  watch(local: LocalMeasurement, wake: () => void): () => void {
    const timers = new Set<NodeJS.Timeout>();
    const wanted = [local.tag, lookUpBy(local)?.value ?? null].filter((one) => one !== null);
    const leave = this.#arrivals.on(wanted, () => {
      wake();
      const timer = setTimeout(
        () => {
          timers.delete(timer);
          wake();
        },
        this.#settleMsOf(local) + timerMs,
      );
      timers.add(timer);
    });
    return () => {
      leave();
      timers.forEach((timer) => clearTimeout(timer));
    };
  }

  #found(key: string, ids: TransactionIds): FoundTransaction {
    const { transactionId, legacyId } = ids;
    return {
      transactionId,
      claim: claim(key, { transactionId, legacyId }, this.#now()),
      isClaimed: isClaimed(key, transactionId),
    };
  }

  /** Where only the clock of the day is known, and was put back since, there is no wait. */
  #settlesInMs({ acceptedAt, local }: Search, accepted: Moment | null, candidate: Candidate): number {
    const { receivedAt, arrived = null } = candidate;
    const now = { at: this.#now(), steady: this.#steady() };
    const since = [
      { at: acceptedAt, steady: accepted?.steady ?? null },
      { at: receivedAt, steady: arrived },
    ];
    const ageMs = Math.min(...since.map((moment) => msBetween(moment, now)));
    return ageMs < 0 ? 0 : Math.max(0, this.#settleMsOf(local) - ageMs);
  }

  #settleMsOf({ tag }: LocalMeasurement): number {
    return this.#settleMs * (tag === null ? 1 : lostTagFactor);
  }
}

/** The result for a measurement whose record could not be recognized. */
export function unfindable(): NotFound {
  return { missing: phrase("recordUnknown"), isFinal: true };
}

function explain(match: Exclude<Match, { kind: "one" }>): Problem {
  switch (match.kind) {
    case "several":
      return phrase("recordsAlike", { count: match.count });
    case "contested":
      return phrase("recordContested");
    case "none":
      return match.alike === 0 ? phrase("recordMissing") : phrase("recordsOther", { count: match.alike });
  }
}

function explainClock(apartMs: number): Problem {
  const seconds = Math.max(1, Math.round(Math.abs(apartMs) / 1_000));
  return phrase(apartMs < 0 ? "recordBefore" : "recordAfter", { seconds });
}

function isSame({ transactionId, legacyId }: TransactionIds, found: TransactionIds): boolean {
  const known = [found.transactionId, found.legacyId];
  return [transactionId, legacyId ?? transactionId].some((id) => known.includes(identity(id)));
}

/** A measurement whose transaction is searched for. */
export interface MeasurementSearch {
  readonly key: string;
  readonly local: LocalMeasurement;
}

/** A record that was not assigned to another measurement. */
export interface Candidate {
  readonly record: TransactionRecord;
  /** When it was received, by this computer's clock; in a situation by that clock as it was when the job was accepted. */
  readonly receivedAt: Date;
  /** The same by the clock that nobody sets; null or not given where that is not known. */
  readonly arrived?: SteadyTime | null;
}

/** Which transaction a measurement belongs to, as far as the records show. */
export type Match =
  | { readonly kind: "one"; readonly candidate: Candidate; readonly isByTag: boolean }
  /** `alike`: how many transactions with the same reference have arrived that cannot be its own. */
  | { readonly kind: "none"; readonly alike: number }
  /** Several transactions are possible. */
  | { readonly kind: "several"; readonly count: number }
  /** The only possible transaction may as well belong to another measurement. */
  | { readonly kind: "contested" };

/**
 * How long after a measurement its record may arrive. A later one with the same reference and dimensions is more likely
 * the record of a later measurement; one with the tag is accepted at any time.
 */
const nearMs = 3_600_000;

/** A record like the measurement is worth a word as long before or after it; one of another day is that of another measurement. */
const alikeMs = 24 * nearMs;

/** If a hundred parcels have the same reference and size, comparing all of them does not help. */
const mostAlike = 50;

/**
 * Finds the transaction of a measurement, considering all possible transactions of it and all other measurements that
 * each of these may belong to. A unique tag decides. Otherwise the references and the dimensions have to be the same,
 * and the record has to be received after the measure was sent: the clocks of the device and the cloud may be hours
 * apart, but both times are by the clock of this computer, or those of workers, which have to agree. If that was put between the job
 * and the record, the clock that nobody sets tells how long it was. If more than one
 * answer is possible, there is none.
 */
export function matchTransaction(
  sought: MeasurementSearch,
  others: readonly MeasurementSearch[],
  candidates: readonly Candidate[],
): Match {
  const transactions = firstOfEach(candidates);
  const own = bestFits(sought.local, transactions);
  const [first] = own;
  if (first === undefined) {
    return { kind: "none", alike: transactions.length };
  }
  if (first.isByTag) {
    return own.length === 1 ? one(first) : { kind: "several", count: own.length };
  }
  if (own.length > mostAlike || others.length > mostAlike) {
    return { kind: "several", count: own.length };
  }
  const otherFits = others
    .filter(({ key }) => key !== sought.key)
    .map(({ local }) => bestFits(local, transactions).map(({ candidate }) => candidate));
  const most = mostPairs([own.map(({ candidate }) => candidate), ...otherFits]);
  if (mostPairs(otherFits) === most) {
    return { kind: "contested" };
  }
  const possible = own.filter(({ candidate }) => mostPairs([[candidate], ...otherFits]) === most);
  const [only] = possible;
  return possible.length === 1 && only !== undefined
    ? one(only)
    : { kind: "several", count: possible.length };
}

function one({ candidate, isByTag }: Fit): Match {
  return { kind: "one", candidate, isByTag };
}

/** The first record of each transaction: the cloud may post one twice, and in both versions of its ids. */
function firstOfEach(candidates: readonly Candidate[]): Candidate[] {
  const known = new Set<string>();
  const inOrder = candidates.toSorted((a, b) => a.receivedAt.getTime() - b.receivedAt.getTime());
  return inOrder.filter(({ record: { transactionId, legacyId } }) => {
    const ids = [transactionId, legacyId ?? transactionId].map((id) => id.toLowerCase());
    const isNew = !ids.some((id) => known.has(id));
    ids.forEach((id) => known.add(id));
    return isNew;
  });
}

/** How well a measurement and a record agree. */
interface Fit {
  readonly candidate: Candidate;
  readonly isByTag: boolean;
  /** Higher is better; the earlier numbers weigh more. */
  readonly rank: readonly number[];
}

/** The transactions that a measurement may belong to, without those that agree with it less well than others. */
function bestFits(local: LocalMeasurement, candidates: readonly Candidate[]): Fit[] {
  const all = candidates.map((candidate) => fitOf(local, candidate)).filter((fit) => fit !== null);
  const tagged = all.filter(({ isByTag }) => isByTag);
  const fits = tagged.length > 0 ? tagged : all;
  const [best] = fits.toSorted((a, b) => compareRanks(b.rank, a.rank));
  return best === undefined ? [] : fits.filter(({ rank }) => compareRanks(rank, best.rank) === 0);
}

function fitOf(local: LocalMeasurement, candidate: Candidate, isAnyTime = false): Fit | null {
  const { record } = candidate;
  const isByTag = isTagged(local, candidate);
  const figures = figuresOf(record);
  const isSameSuccess = local.ok === record.ok;
  const sides = local.ok && record.ok ? compareSides(local.figures, figures, isByTag) : "unknown";
  if (sides === "different" || (!isSameSuccess && !isByTag)) {
    return null;
  }
  const isSameTime = isSameInstant(local.deviceUtcTime, record.dateTimeUtc);
  const rank = [isSameSuccess, isSameTime, sides === "same"].map(Number);
  if (isByTag) {
    return { candidate, isByTag, rank };
  }
  const same = countSame(local, record);
  const isComparable = sides !== "unknown" || !local.ok;
  const isInTime = isAnyTime || isNear(local, candidate);
  const canBe = isComparable && canWeighSame(local.figures, figures) && isInTime;
  return same > 0 && canBe ? { candidate, isByTag, rank: [same, ...rank] } : null;
}

/**
 * How many references are equal to what was sent; 0 if one differs. A device that drops custom references leaves them
 * empty; a reference that was not sent belongs to another measurement.
 */
function countSame({ references }: LocalMeasurement, record: TransactionRecord): number {
  const given = referenceNames.filter((name) => (record[name] ?? "") !== "");
  return given.every((name) => record[name] === references[name]) ? given.length : 0;
}

function isNear({ sentAt }: LocalMeasurement, { receivedAt }: Candidate): boolean {
  const afterMs = receivedAt.getTime() - Date.parse(sentAt);
  return afterMs >= 0 && afterMs <= nearMs;
}

/**
 * Whether the device and the record have the very same millisecond: then the record contains the device's own time. Any
 * other difference proves nothing, nor do times without a fraction.
 */
function isSameInstant(a: string | null, b: string | null): boolean {
  const [first, second] = [instantOf(a ?? ""), instantOf(b ?? "")];
  return first === second && first % 1000 !== 0;
}

/** How long after a measurement the nearest record of that day came that is like it in all but the time; null if there is none. */
function apartMsOf(local: LocalMeasurement, candidates: readonly Candidate[]): number | null {
  const apart = candidates
    .filter((one) => fitOf(local, one, true) !== null)
    .map(({ receivedAt }) => receivedAt.getTime() - Date.parse(local.sentAt))
    .filter((afterMs) => Math.abs(afterMs) <= alikeMs);
  return apart.toSorted((a, b) => Math.abs(a) - Math.abs(b))[0] ?? null;
}

function isTagged({ tag }: LocalMeasurement, { record }: Candidate): boolean {
  return tag !== null && referenceNames.some((name) => record[name] === tag);
}

function figuresOf(record: TransactionRecord): Figures {
  const { length, width, height, dimsUnitOfMeasure, measurementFidelity, weight, weightUnitOfMeasure } =
    record;
  return {
    length,
    width,
    height,
    dimsUnit: dimsUnitOfMeasure,
    step: measurementFidelity,
    weight,
    weightUnit: weightUnitOfMeasure,
  };
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  const index = a.findIndex((one, at) => one !== b[at]);
  return index === -1 ? 0 : (a[index] ?? 0) - (b[index] ?? 0);
}

/**
 * How many measurements can be assigned a transaction of their own at the same time, given the possible ones of each (a
 * maximum matching).
 */
function mostPairs(wanted: readonly (readonly Candidate[])[]): number {
  const taken = new Map<Candidate, number>();
  const place = (index: number, tried: Set<Candidate>): boolean =>
    (wanted[index] ?? []).some((candidate) => {
      if (tried.has(candidate)) {
        return false;
      }
      tried.add(candidate);
      const holder = taken.get(candidate);
      const isPlaced = holder === undefined || place(holder, tried);
      if (isPlaced) {
        taken.set(candidate, index);
      }
      return isPlaced;
    });
  return wanted.filter((_, index) => place(index, new Set())).length;
}

/** Weights are rounded once or twice on their way, in steps that are not documented. */
const weightToleranceKg = 0.05;
/** The difference that storing and calculating with binary fractions may cause. */
const noise = 1e-3;

interface Sides {
  readonly values: readonly number[];
  readonly unit: string;
  /** The step to which each side is rounded, in the unit. */
  readonly step: number;
  /** Null for a unit that is not known. */
  readonly cmPerUnit: number | null;
}

/** How well the dimensions of two measurements agree: `turned` if two sides are exchanged. */
export type Agreement = "same" | "turned" | "different" | "unknown";

/**
 * Compares dimensions. In the same unit they have to be equal, whatever unit that is; in two units each was rounded on
 * its own, and may be half a step of its own away from the true value. `isRounded` allows that in the same unit too, for
 * records that are known to belong together by other facts.
 */
export function compareSides(a: Figures, b: Figures, isRounded = false): Agreement {
  const [first, second] = [sidesOf(a), sidesOf(b)];
  if (first === null || second === null) {
    return "unknown";
  }
  const isSameUnit = first.unit === second.unit;
  if (!isSameUnit && (first.cmPerUnit === null || second.cmPerUnit === null)) {
    return "unknown";
  }
  const [perFirst, perSecond] = [first.cmPerUnit ?? 1, second.cmPerUnit ?? 1];
  const halfSteps = (first.step * perFirst + second.step * perSecond) / 2;
  const tolerance = (isSameUnit && !isRounded ? 0 : halfSteps) + noise;
  const areClose = (ones: readonly number[], others: readonly number[]): boolean =>
    ones.every((one, index) => Math.abs(one * perFirst - (others[index] ?? 0) * perSecond) <= tolerance);
  if (areClose(first.values, second.values)) {
    return "same";
  }
  return areClose(sorted(first.values), sorted(second.values)) ? "turned" : "different";
}

/** Whether two weights may be the same; also if one of them is not known, since a device without a scale sends 0. */
function canWeighSame(a: Figures, b: Figures): boolean {
  const [first, second] = [kgOf(a), kgOf(b)];
  return first === null || second === null || Math.abs(first - second) <= weightToleranceKg;
}

function sorted(sides: readonly number[]): number[] {
  return sides.toSorted((one, other) => one - other);
}

/** Returns null if there are no dimensions: a side is 0, or there is no unit. */
function sidesOf({ length, width, height, dimsUnit, step }: Figures): Sides | null {
  const known = readLengthUnit(dimsUnit);
  const unit = known ?? dimsUnit?.trim().toLowerCase() ?? "";
  const values = [length, width, height].filter((side): side is number => side !== null && side > 0);
  if (unit === "" || values.length < 3) {
    return null;
  }
  const cmPerUnit = known === null ? null : Number(millimeters[known]) / 10;
  return { values, unit, cmPerUnit, step: stepOf(values, step) };
}

/**
 * The device's step if the sides are multiples of it; if another unit or service has rounded them, their last decimal.
 */
function stepOf(values: readonly number[], given: number | null): number {
  const isMultiple = (value: number): boolean => {
    const steps = value / (given ?? 0);
    return Math.abs(steps - Math.round(steps)) < noise;
  };
  if (given !== null && given > 0 && values.every(isMultiple)) {
    return given;
  }
  const decimals = values.map((value) => /\.(\d+)$/.exec(String(value))?.[1]?.length ?? 0);
  return 10 ** -Math.max(...decimals);
}

function kgOf({ weight, weightUnit }: Figures): number | null {
  const unit = readWeightUnit(weightUnit);
  return weight === null || weight <= 0 || unit === null ? null : (weight * Number(grams[unit])) / 1_000;
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

/** So many are removed at once: what waits for the database meanwhile does not notice it. */
export const mostRemovedMeasurements = 200;

/** When the job of a measurement was accepted, by the two clocks. */
const acceptedColumns = "measurements.accepted_at, jobs.steady_clock, jobs.accepted_steady_ms";
const withJobs = "measurements LEFT JOIN jobs ON jobs.job_id = measurements.job_id";

const mostCandidates = 200;
/**
 * The reference by which the records of a measurement are looked up: the first one that was sent. Null if none was.
 */
function lookUpBy({ references }: LocalMeasurement) {
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
      sortable(local.sentAt),
      JSON.stringify(local),
    ],
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
function claim(key: string, { transactionId, legacyId }: TransactionIds, at: Date): Statement {
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
function isClaimed(key: string, transactionId: string): Condition {
  return {
    sql: "EXISTS (SELECT 1 FROM measurements WHERE measurement_key = ? AND measurements.transaction_id = ?)",
    values: [key, identity(transactionId)],
  };
}

/** What the database contains about a measurement whose transaction is searched for. */
export interface Situation {
  /** The transaction that was assigned before, as the database has it. */
  readonly found: TransactionIds | null;
  /** Null if no job was accepted for it. */
  readonly accepted: Moment | null;
  readonly others: readonly MeasurementSearch[];
  readonly candidates: readonly Candidate[];
}

/** Returns the statements whose rows `readSituation` reads. */
export function situationStatements({ key, local }: MeasurementSearch): Statement[] {
  const tag = indexedText(local.tag);
  const sentAt = Date.parse(local.sentAt);
  const at = (ms: number): string => new Date(ms).toISOString();
  const lookUp = lookUpBy(local);
  const column = lookUp?.column ?? "transaction_reference";
  // Whoever compares the records that are found compares the whole references.
  const reference = indexedText(lookUp?.value ?? null);
  const anyColumn = Object.values(columns).map((column) => `${column} = ?`);
  return [
    {
      sql: `SELECT measurements.transaction_id, measurements.legacy_id, ${acceptedColumns} FROM ${withJobs} WHERE measurement_key = ?`,
      values: [key],
    },
    {
      sql: `SELECT measurement_key, facts, ${acceptedColumns} FROM ${withJobs}
        WHERE reference = ? AND measurements.transaction_id IS NULL AND measurement_key <> ?
          AND ((sent_at >= ? AND sent_at <= ?) OR (jobs.steady_clock = ? AND jobs.accepted_steady_ms >= ? AND jobs.accepted_steady_ms <= ?))
          AND jobs.state NOT IN ('reported', 'failed')
        ORDER BY sent_at LIMIT ?`,
      values: [
        reference,
        key,
        at(sentAt - nearMs),
        at(sentAt + nearMs),
        local.sentSteady?.clock ?? null,
        Math.round((local.sentSteady?.ms ?? 0) - nearMs),
        Math.round((local.sentSteady?.ms ?? 0) + nearMs),
        mostAlike + 1,
      ],
    },
    free(key, `${column} = ? AND received_at >= ? AND received_at <= ?`, [
      reference,
      at(sentAt),
      at(sentAt + nearMs),
    ]),
    free(key, `(${anyColumn.join(" OR ")})`, [tag, tag, tag, tag]),
    // What came at another time by the clock of the day: that may have been put in between, and the clock that nobody sets tells how long ago it was.
    free(key, `${column} = ? AND received_at < ?`, [reference, at(sentAt)], "received_at DESC"),
    free(key, `${column} = ? AND received_at > ?`, [reference, at(sentAt + nearMs)]),
  ];
}

/** Records that were not assigned to another measurement. */
function free(key: string, which: string, values: readonly SqlValue[], order = "received_at"): Statement {
  const taken = (column: string): string =>
    `NOT EXISTS (SELECT 1 FROM measurements AS other WHERE other.measurement_key <> ?
      AND other.${column} IN (records.transaction_id, records.legacy_id))`;
  return {
    sql: `SELECT record_id, received_at, steady_clock, received_steady_ms, ${lengthOf(records)} FROM records
      WHERE ${which} AND ${taken("transaction_id")} AND ${taken("legacy_id")}
      ORDER BY ${order} LIMIT ?`,
    values: [...values, key, key, mostCandidates],
  };
}

async function readSituation(
  database: Pick<Database, "transaction">,
  [own, others, ...listed]: readonly (readonly Row[])[],
): Promise<Situation> {
  const [found] = own ?? [];
  const rows = new Map(listed.flat().map((row) => [Number(row["record_id"]), row]));
  const accepted = found === undefined ? null : readAccepted(found);
  const candidates: Candidate[] = [];
  for await (const row of withTexts(database, records, [...rows.values()])) {
    const candidate = readCandidate(row, accepted);
    if (candidate !== null) {
      candidates.push(candidate);
    }
  }
  return {
    accepted,
    found:
      found === undefined || found["transaction_id"] === null
        ? null
        : {
            transactionId: String(found["transaction_id"]),
            legacyId: found["legacy_id"] === null ? null : String(found["legacy_id"]),
          },
    others: (others ?? []).map((row) => readSearch(row, accepted)).filter((one) => one !== null),
    candidates,
  };
}

/** Returns the statement that removes some old measurements, and has a row for each of them; to be run from time to time. */
export function removeOldMeasurements(now: Date): Statement {
  return {
    sql: `DELETE FROM measurements WHERE measurement_key IN
      (SELECT measurement_key FROM measurements WHERE accepted_at < ? AND NOT ${isOpen} LIMIT ? ${skipLocked})
      RETURNING measurement_key`,
    values: [new Date(now.getTime() - keepMs).toISOString(), mostRemovedMeasurements],
  };
}

/** Reads a row; null if its content is not what was written, which `dimensioner verify` reports. */
function readCandidate(row: Row, accepted: Moment | null): Candidate | null {
  const arrived = readSteady(row, "received_steady_ms");
  const text = String(row["record"]);
  return sha256Of(text) === row["record_sha256"]
    ? {
        record: decodeTransactionRecord(JSON.parse(text)),
        receivedAt: asOf(accepted, { at: new Date(String(row["received_at"])), steady: arrived }),
        arrived,
      }
    : null;
}

function readAccepted(row: Row): Moment {
  return { at: new Date(String(row["accepted_at"])), steady: readSteady(row, "accepted_steady_ms") };
}

function readSteady(row: Row, column: string): SteadyTime | null {
  const { steady_clock: clock, [column]: ms } = row;
  return typeof clock === "string" && ms !== null ? { clock, ms: Number(ms) } : null;
}

/** The time of something else, by the clock of the day as it was when the job was accepted: it may have been put in between. */
function asOf(accepted: Moment | null, moment: Moment): Date {
  return accepted === null ? moment.at : dayTimeAsOf(accepted, moment);
}

/** A measurement with the time at which it was sent by the clock of the day as it was when the job was accepted. */
function sentAsOf(accepted: Moment | null, local: LocalMeasurement): LocalMeasurement {
  const sent = { at: new Date(local.sentAt), steady: local.sentSteady ?? null };
  return { ...local, sentAt: asOf(accepted, sent).toISOString() };
}

function readSearch(row: Row, accepted: Moment | null): MeasurementSearch | null {
  const read = v.safeParse(v.pipe(jsonText(recordLimits), localMeasurement), row["facts"]);
  if (!read.success) {
    return null;
  }
  const own = readAccepted(row);
  const local = sentAsOf(own, read.output);
  const putMs = asOf(accepted, own).getTime() - own.at.getTime();
  const sentAt = new Date(Date.parse(local.sentAt) + putMs).toISOString();
  return { key: String(row["measurement_key"]), local: { ...local, sentAt } };
}

/** Formats a time so that the order of the texts is the order of the times. */
function sortable(time: string): string {
  return new Date(time).toISOString();
}
