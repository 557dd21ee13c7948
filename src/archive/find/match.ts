import type { TransactionRecord } from "../../model/shapes.ts";
import { canWeighSame, compareSides } from "./figures.ts";
import { referenceNames, type Figures, type LocalMeasurement } from "./local-measurement.ts";

/** A measurement whose transaction is sought. */
export interface Sought {
  readonly key: string;
  readonly local: LocalMeasurement;
}

/** A record that no other measurement has been given. */
export interface Candidate {
  readonly record: TransactionRecord;
  /** By this computer's clock. */
  readonly receivedAt: Date;
}

/** Which transaction a measurement belongs to, as far as its records tell. */
export type Match =
  | { readonly kind: "one"; readonly candidate: Candidate; readonly isByTag: boolean }
  /** `alike`: how many transactions with the same reference have arrived that it cannot be. */
  | { readonly kind: "none"; readonly alike: number }
  /** It can be each of so many. */
  | { readonly kind: "several"; readonly count: number }
  /** The transaction that it can be can as well be another measurement's. */
  | { readonly kind: "contested" };

/**
 * So long after a measurement its record may arrive. A later one with the same reference and dimensions is rather the record of a
 * later measurement; one with the tag is taken whenever it arrives.
 */
export const nearMs = 3_600_000;

/** Who gives a hundred parcels one reference and one size cannot be helped by comparing all of them. */
export const mostAlike = 50;

/**
 * Says which transaction a measurement belongs to, among all that it can be and all other measurements that it can be of. A unique
 * tag decides. Otherwise the references and the dimensions have to be the same, and the record has to have been received after
 * the measure was sent: the clocks of the device and the cloud may be hours apart, this computer's is the same for both. Where
 * more than one answer is possible there is none.
 */
export function matchTransaction(
  sought: Sought,
  others: readonly Sought[],
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
  const rivals = others
    .filter(({ key }) => key !== sought.key)
    .map(({ local }) => bestFits(local, transactions).map(({ candidate }) => candidate));
  const most = mostPairs([own.map(({ candidate }) => candidate), ...rivals]);
  if (mostPairs(rivals) === most) {
    return { kind: "contested" };
  }
  const possible = own.filter(({ candidate }) => mostPairs([[candidate], ...rivals]) === most);
  const [only] = possible;
  return possible.length === 1 && only !== undefined
    ? one(only)
    : { kind: "several", count: possible.length };
}

function one({ candidate, isByTag }: Fit): Match {
  return { kind: "one", candidate, isByTag };
}

/** The records that came first of each transaction: the cloud may post one twice, and in both versions of its ids. */
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

/** How a measurement and a record go together. */
interface Fit {
  readonly candidate: Candidate;
  readonly isByTag: boolean;
  /** The higher, the better; the earlier numbers weigh more. */
  readonly rank: readonly number[];
}

/** The transactions that a measurement can belong to, those left out that fit it less well than others. */
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
  const sides = local.ok ? compareSides(local.figures, figures, isByTag) : "unknown";
  if (local.ok !== record.ok || sides === "different") {
    return null;
  }
  const rank = [Number(isSameInstant(local.deviceUtcTime, record.dateTimeUtc)), Number(sides === "same")];
  if (isByTag) {
    return { candidate, isByTag, rank };
  }
  const same = countSame(local, record);
  const isComparable = sides !== "unknown" || !local.ok;
  const canBe = isComparable && canWeighSame(local.figures, figures) && isNear(local, candidate);
  return same > 0 && canBe ? { candidate, isByTag, rank: [same, ...rank] } : null;
}

/**
 * How many references are what was sent; 0 where one is not. A device that drops custom references leaves them empty; one that
 * is there and was not sent belongs to another measurement.
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
 * Whether device and record tell the very same millisecond: then the record has the device's own time. Any other difference says
 * nothing, and neither do times without a fraction.
 */
function isSameInstant(a: string | null, b: string | null): boolean {
  const [first, second] = [Date.parse(a ?? ""), Date.parse(b ?? "")];
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

/** How many measurements can be given a transaction of their own at once, where each says which it can be. */
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
