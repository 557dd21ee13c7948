import { phrase, type Problem } from "../../errors/interpolation.ts";
import type { Condition, Database, Statement } from "../../database/database.ts";
import { identity } from "../../database/inbox.ts";
import type { RecordArrivals } from "../../database/inbox.ts";
import type { LocalMeasurement } from "./local-measurement.ts";
import { matchTransaction, type Candidate, type Match } from "./match.ts";
import {
  situationStatements,
  claim,
  isClaimed,
  lookUpBy,
  readSituation,
  type JobOfMeasurement,
  type TransactionIds,
} from "./measurement-table.ts";

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

interface FinderOptions {
  readonly database: Database;
  /** Notifies of the records that this process puts into the database. */
  readonly arrivals: RecordArrivals;
  /** For tests. */
  readonly now?: () => Date;
  /**
   * Without a tag, a record is taken only when it and the job have existed for so long: by then another record like it,
   * or another measurement that it may belong to, has arrived too.
   */
  readonly settleMs?: number | undefined;
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
  readonly #settleMs: number;

  constructor({ database, arrivals, now = () => new Date(), settleMs = 10_000 }: FinderOptions) {
    this.#database = database;
    this.#arrivals = arrivals;
    this.#now = now;
    this.#settleMs = settleMs;
  }

  /** Searches once. Rejects with ERR_STORE. */
  async find(search: Search): Promise<FoundTransaction | NotFound> {
    const { key, local } = search;
    const { found, others, candidates } = readSituation(
      await this.#database.transaction(situationStatements(search)),
    );
    if (found !== null) {
      const before = candidates.find(({ record }) => isSame(record, found));
      return this.#found(key, before?.record ?? found);
    }
    if (local.tag === null && lookUpBy(local) === null) {
      return unfindable();
    }
    const match = matchTransaction(search, others, candidates);
    if (match.kind !== "one") {
      return { missing: explain(match) };
    }
    const settlesInMs = match.isByTag ? 0 : this.#settlesInMs(search, match.candidate);
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

  /** By a clock that may have been put back since: then there is no wait. */
  #settlesInMs({ acceptedAt, local }: Search, { receivedAt }: Candidate): number {
    const ageMs = this.#now().getTime() - Math.max(acceptedAt.getTime(), receivedAt.getTime());
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

function isSame({ transactionId, legacyId }: TransactionIds, found: TransactionIds): boolean {
  const known = [found.transactionId, found.legacyId];
  return [transactionId, legacyId ?? transactionId].some((id) => known.includes(identity(id)));
}
