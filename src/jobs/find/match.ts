import type { TransactionRecord } from "../../model/shapes.ts";
import { instantOf } from "../../rules/instants.ts";
import { canWeighSame, compareSides } from "./figures.ts";
import { referenceNames, type Figures, type LocalMeasurement } from "./local-measurement.ts";

/** A measurement whose transaction is searched for. */
export interface MeasurementSearch {
  readonly key: string;
  readonly local: LocalMeasurement;
}

/** A record that was not assigned to another measurement. */
export interface Candidate {
  readonly record: TransactionRecord;
  /** When it was received, by this computer's clock. */
  readonly receivedAt: Date;
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
export const nearMs = 3_600_000;

/** If a hundred parcels have the same reference and size, comparing all of them does not help. */
export const mostAlike = 50;

/**
 * Finds the transaction of a measurement, considering all possible transactions of it and all other measurements that
 * each of these may belong to. A unique tag decides. Otherwise the references and the dimensions have to be the same,
 * and the record has to be received after the measure was sent: the clocks of the device and the cloud may be hours
 * apart, but both times are by the clock of this computer, or those of workers, which have to agree. If more than one
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

function fitOf(local: LocalMeasurement, candidate: Candidate): Fit | null {
  const { record } = candidate;
  const isByTag = local.tag !== null && referenceNames.some((name) => record[name] === local.tag);
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
  const canBe = isComparable && canWeighSame(local.figures, figures) && isNear(local, candidate);
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
