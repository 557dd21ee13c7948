import { setImmediate as nextTurn } from "node:timers/promises";
import { problemOf, type Problem } from "../errors/interpolation.ts";
import type { HandledParcel } from "../database/inbox.ts";
import {
  type Outline,
  type Remembered,
  contentOf,
  correctionOf,
  outlineOf,
} from "../model/transaction-record.ts";
import { settledWithin } from "../time/after-limit.ts";
import type { PostedRecord, Received } from "./posted-record.ts";
import { RecentIds } from "./recent-ids.ts";
import { Room } from "./room.ts";
import { pageSize, StoredRecords, type StoreUse } from "./stored-records.ts";

/** The receiver of the records. */
export interface RecordReceiver {
  /** Delivers one record; `waiting` others are behind it. */
  deliver(received: Received, waiting: number): void;
  /** Returns the records of the last turn that have to be delivered again. */
  unreached(received: readonly Received[]): readonly Received[];
}

export interface AcceptRules {
  /** How long a record is recognized as a duplicate; 0: never. */
  readonly dedupeMs: number;
  /** How many records may wait to be delivered. */
  readonly queueLimit: number;
}

/** Why a record cannot be accepted now: its sender has to post it again. */
export type NotTaken =
  | { readonly refusal: "full" }
  | { readonly refusal: "store"; readonly problem: Problem };

/** Limit of the bodies of all waiting records together. */
const mostWaitingBytes = 32_000_000;
/** How long delivering records may take in one turn of the event loop, including what follows from them. */
const longestTurnMs = 8;
const largestBatch = 256;
/** A deploy waits no longer for a disk that does not answer. */
const acceptedWithinMs = 2_000;

/**
 * Accepts the records of a node and delivers them in the order in which they were accepted, some in each turn of the event loop. How
 * many depends on how long the turn before has taken: a burst on an idle flow is delivered at once, and a slow flow delays neither the
 * responses to new posts nor other flows. With a store they wait in its table, and are read from there as the flow can take them;
 * without one they wait in memory. Without a target they wait. The nodes with one id that replace each other share a pump.
 */
export class RecordPump {
  /** Of all records that wait, and of those that are being written to a store, whose database may be slow. */
  readonly #room = new Room();
  /** The ids that were accepted into memory, with what came under them; a store's table knows its own. */
  readonly #recent = new RecentIds<Remembered>();
  /** That of the last record, whose names of fields the next one has as well. */
  #outline: Outline | undefined;
  /** By the key of the database: a deploy may give the node another store. */
  readonly #tables = new Map<string, StoredRecords>();
  /** The table of the node's store now; undefined: it has none. */
  #table: StoredRecords | undefined;
  /** What reads the table; a node that opens its store again does not wait for a read of the one before. */
  #reading: symbol | undefined;
  /** The next records to be delivered. */
  #next: Received[] = [];
  /** Records that were delivered, but arrive with the next turn only. */
  #inFlight: readonly Received[] = [];
  #target: RecordReceiver | undefined;
  /** The target of the records in flight; meanwhile another one may have replaced it. */
  #lastTarget: RecordReceiver | undefined;
  #isDelivering = false;
  #batch = 1;

  /** How many records were accepted and have not arrived yet. */
  get waiting(): number {
    return this.#room.items;
  }

  /** Keeps records in this store from now on; undefined: in memory. Returns a function that ends the use of the store. */
  open(use: StoreUse | undefined): () => Promise<void> {
    this.#reading = undefined;
    if (use === undefined) {
      this.#table = undefined;
      return async () => undefined;
    }
    const key = use.store.databaseKey;
    const table = this.#tables.get(key) ?? new StoredRecords(key, this.#room, () => void this.#read());
    this.#tables.set(key, table);
    this.#table = table;
    const close = table.open(use);
    return async () => {
      await settledWithin(this.#readAccepted(table), acceptedWithinMs);
      await close();
    };
  }

  /**
   * Resolves with null when the record is durable, or without a store when it is in the queue; also if it is a duplicate, the same
   * content under the same id, which is dropped. Never rejects.
   */
  async accept(posted: PostedRecord, { dedupeMs, queueLimit }: AcceptRules): Promise<NotTaken | null> {
    const { record, ids, bytes } = posted;
    const content = contentOf(record);
    // Without an `await` before it is remembered, so that two posts of one record are recognized.
    const isKnown = this.#table === undefined && this.#recent.knows(ids, dedupeMs);
    if (isKnown && this.#recent.knowsContent(ids, content)) {
      return null;
    }
    if (!this.#room.has(bytes, { items: queueLimit, bytes: mostWaitingBytes })) {
      return { refusal: "full" };
    }
    this.#room.take(bytes);
    if (this.#table === undefined) {
      const before = isKnown ? this.#recent.lastOf(ids) : undefined;
      const outline = outlineOf(record, before?.outline ?? this.#outline);
      this.#outline = outline;
      const { transactionId } = record;
      const receivedAt = new Date().toISOString();
      this.#recent.remember(ids, dedupeMs, content, { transactionId, receivedAt, outline });
      const corrects = before === undefined ? null : correctionOf(before, outline);
      this.#next.push({ record, bytes, kept: null, corrects, isResumed: false });
      void this.#deliver();
      return null;
    }
    try {
      await this.#table.add(posted, dedupeMs);
      return null;
    } catch (error) {
      return { refusal: "store", problem: problemOf(error) };
    } finally {
      this.#room.give(bytes);
    }
  }

  /** Marks a transaction's records as handled, so that they are not sent again. Rejects with ERR_STORE. */
  async handled(transactionId: string, parcel: HandledParcel): Promise<number> {
    return (await this.#table?.handled(transactionId, parcel)) ?? 0;
  }

  /** Delivers all records to this target from now on. */
  resume(target: RecordReceiver): void {
    this.#target = target;
    void this.#read();
    void this.#deliver();
  }

  /** Delivers nothing until the next `resume`. */
  hold(): void {
    this.#target = undefined;
  }

  /** Reads the table as long as fewer records are in memory than one page has: each may have a megabyte. */
  async #read(): Promise<void> {
    const table = this.#table;
    if (table === undefined || this.#reading !== undefined) {
      return;
    }
    const own = (this.#reading = Symbol("reading"));
    while (
      this.#reading === own &&
      this.#target !== undefined &&
      table.hasMore &&
      this.#next.length < pageSize
    ) {
      this.#next.push(...(await table.read()));
      void this.#deliver();
    }
    if (this.#reading === own) {
      this.#reading = undefined;
    }
  }

  /** What was accepted comes out of the flow also if a deploy gives the node another store. */
  async #readAccepted(table: StoredRecords): Promise<void> {
    while (table.hasUnread) {
      this.#next.push(...(await table.read()));
      // Meanwhile the next node may have been started.
      void this.#deliver();
    }
  }

  async #deliver(): Promise<void> {
    if (this.#isDelivering) {
      return;
    }
    this.#isDelivering = true;
    // Requests come in before the immediates of a turn, and their time is not the flow's: otherwise a burst on a slow computer would
    // slow down its own delivery until the queue is full.
    let since = performance.now();
    const beginTurn = (): void => {
      since = performance.now();
      turn = setImmediate(beginTurn);
    };
    let turn = setImmediate(beginTurn);
    while (this.#inFlight.length > 0 || (this.#next.length > 0 && this.#target !== undefined)) {
      const sent = this.#inFlight.length;
      // It comes behind the flow's own work with the records in flight: they have arrived then.
      await nextTurn();
      this.#settle();
      if (performance.now() - since > longestTurnMs) {
        this.#batch = Math.max(1, this.#batch >> 1);
      } else if (sent === this.#batch) {
        this.#batch = Math.min(largestBatch, this.#batch * 2);
      }
      this.#deliverBatch();
      void this.#read();
    }
    clearImmediate(turn);
    this.#isDelivering = false;
  }

  #settle(): void {
    const again = new Set(this.#inFlight.length === 0 ? [] : this.#lastTarget?.unreached(this.#inFlight));
    for (const { bytes, kept } of this.#inFlight.filter((one) => !again.has(one))) {
      this.#room.give(bytes);
      if (kept !== null) {
        this.#tables.get(kept.store)?.sent(kept.recordId);
      }
    }
    this.#next.unshift(...again);
    this.#inFlight = [];
  }

  #deliverBatch(): void {
    const target = this.#target;
    if (target === undefined) {
      return;
    }
    const since = performance.now();
    this.#lastTarget = target;
    let count = 0;
    for (const received of this.#next.slice(0, this.#batch)) {
      count++;
      target.deliver(received, this.#room.items - count);
      // Delivering a record may remove the target.
      if (this.#target !== target || performance.now() - since > longestTurnMs / 2) {
        break;
      }
    }
    this.#inFlight = this.#next.splice(0, count);
  }
}
