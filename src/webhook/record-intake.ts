import { problemOf, type Problem } from "../errors/interpolation.ts";
import type { KnownDevice } from "../model/instrument.ts";
import type { TransactionRecord } from "../model/shapes.ts";
import { DeliveryQueue, type Target } from "./delivery-queue.ts";
import type { PostedRecord } from "./posted-record.ts";
import { RecentIds } from "./recent-ids.ts";

/** Which records are accepted. */
export interface IntakeRules {
  /** How long a record is recognized as a duplicate; 0: never. */
  readonly dedupeMs: number;
  /** How many records may wait to be delivered. */
  readonly queueLimit: number;
  readonly onlyOk: boolean;
  /** Only records of these devices; none: all. */
  readonly deviceClientIds: readonly string[];
  /** What is known of the device with this ID in the cloud, for the record: no record says it. */
  readonly deviceOf: (deviceClientId: string | null) => KnownDevice;
}

/** A record on its way into the flow. */
export interface Received {
  readonly record: TransactionRecord;
  /** Where it is kept; null if only in memory. */
  readonly kept: { readonly store: string; readonly recordId: number } | null;
  /** Whether it was received by an earlier process. */
  readonly isResumed: boolean;
}

/** Keeps records before their senders get a response. */
export interface RecordKeeper {
  /**
   * Resolves when the record is durable, with whether it is to be delivered now: a duplicate is not, and a record
   * behind others that wait in the store is delivered in its turn. Rejects if it could not be kept.
   */
  keep(record: TransactionRecord, dedupeMs: number): Promise<Received | null>;
}

/** As many numbers are remembered; with more, all records are looked through once more, which takes less memory. */
const mostUnread = 10_000;
const firstAgainMs = 1_000;
const longestAgainMs = 3_600_000;
/** What PostgreSQL commits still later, while a standby server is away, is found at the next deploy. */
const latestCommitMs = 24 * 3_600_000;

/** How far the records in a store were read; the nodes that replace each other share it. */
export class StoredProgress {
  /** The numbers of the records that are in the queue, or were sent and are not noted as such yet. */
  readonly inHand = new Set<number>();
  /** Whether records are being read. Those that arrive meanwhile are read after them. */
  isReading = true;
  /** The highest number that was read. */
  readTo = 0;
  /** The numbers of records that have to be read; 0: of any number. */
  readonly unread = new Set<number>();
  /** Reads what was left over; that of the node that is not closed. A node that opens reads by itself. */
  read: (() => void) | undefined;
  #again: NodeJS.Timeout | undefined;

  /**
   * To be called for a record that is in the store, or may be, and that nobody has in hand: it has to be read there. 0 if its
   * number is not known.
   */
  leaveUnread(recordId: number): void {
    if (this.unread.size < mostUnread) {
      this.unread.add(recordId);
    } else {
      this.unread.clear();
      this.unread.add(0);
    }
    if (!this.isReading) {
      this.isReading = true;
      this.read?.();
    }
  }

  /**
   * To be called if the database has not answered: PostgreSQL may commit much later what nobody can see until then. Each look comes
   * after twice the pause, so what is committed within a day is found soon, however long that took. Each reads all records.
   */
  leaveUnanswered(): void {
    this.#look(firstAgainMs, latestCommitMs);
  }

  /** Also while the store has no reader: a deploy may be about to open one. */
  #look(pauseMs: number, leftMs: number): void {
    this.leaveUnread(0);
    clearTimeout(this.#again);
    if (leftMs > 0) {
      const again = (): void => this.#look(Math.min(pauseMs * 2, longestAgainMs), leftMs - pauseMs);
      this.#again = setTimeout(again, pauseMs).unref();
    }
  }
}

/** The state that a receiver passes on to the one that replaces it. */
export class WebhookMemory {
  readonly recent = new RecentIds();
  readonly queue = new DeliveryQueue<Received>();
  /** The records that are being written to a store. They count like those in the queue, since the database may be slow. */
  readonly keeping = { items: 0, bytes: 0 };
  readonly #stored = new Map<string, StoredProgress>();

  /** Returns how far the records in this store were read: a deploy may give the node another store. */
  storedIn(store: string): StoredProgress {
    const progress = this.#stored.get(store) ?? new StoredProgress();
    this.#stored.set(store, progress);
    return progress;
  }
}

/** Why a record cannot be accepted now: its sender has to post it again. */
export type NotTaken =
  | { readonly refusal: "full" }
  | { readonly refusal: "store"; readonly problem: Problem };

/** Limit of the bodies of all waiting records together. */
const mostWaitingBytes = 32_000_000;

/**
 * Accepts records into a queue, with a keeper once they are durable, and delivers them from there. A duplicate and an
 * unwanted record are dropped.
 */
export class RecordIntake {
  readonly #rules: IntakeRules;
  readonly #memory: WebhookMemory;
  readonly #keeper: RecordKeeper | undefined;

  constructor(rules: IntakeRules, memory: WebhookMemory, keeper: RecordKeeper | undefined) {
    this.#rules = rules;
    this.#memory = memory;
    this.#keeper = keeper;
  }

  /** How many records are taken and not at their place. */
  get waiting(): number {
    return this.#memory.queue.size;
  }

  /** Hands on what waits, and from now on what comes. */
  resume(target: Target<Received>): void {
    this.#memory.queue.resume(target);
  }

  /** Takes what comes, and lets it wait. */
  hold(): void {
    this.#memory.queue.hold();
  }

  /** Returns null if the record was accepted or dropped. Never rejects. */
  async take(posted: PostedRecord): Promise<NotTaken | null> {
    if (!this.#isWanted(posted.record)) {
      return null;
    }
    const completed = { ...posted, record: this.#complete(posted.record) };
    return this.#keeper === undefined ? this.#takeInMemory(completed) : this.#keep(this.#keeper, completed);
  }

  #complete(record: TransactionRecord): TransactionRecord {
    const { name, instrument } = this.#rules.deviceOf(record.deviceClientId);
    const { serialNumber, certificate } = instrument;
    return { ...record, device: name, deviceSerialNumber: serialNumber, deviceCertificate: certificate };
  }

  #isWanted(record: TransactionRecord): boolean {
    const { onlyOk, deviceClientIds } = this.#rules;
    const device = record.deviceClientId?.toLowerCase() ?? "";
    return (record.ok || !onlyOk) && (deviceClientIds.length === 0 || deviceClientIds.includes(device));
  }

  /** There is no `await` in here, so that two posts of one record are recognized. */
  #takeInMemory({ record, ids, bytes }: PostedRecord): NotTaken | null {
    const { queue, recent } = this.#memory;
    const { dedupeMs } = this.#rules;
    if (recent.knows(ids, dedupeMs)) {
      return null;
    }
    if (!this.#hasRoom(bytes)) {
      return { refusal: "full" };
    }
    recent.remember(ids, dedupeMs);
    queue.push({ record, kept: null, isResumed: false }, bytes);
    return null;
  }

  /** Two posts of one record are recognized by the store. */
  async #keep(keeper: RecordKeeper, { record, bytes }: PostedRecord): Promise<NotTaken | null> {
    if (!this.#hasRoom(bytes)) {
      return { refusal: "full" };
    }
    const { keeping } = this.#memory;
    keeping.items++;
    keeping.bytes += bytes;
    try {
      const received = await keeper.keep(record, this.#rules.dedupeMs);
      if (received !== null) {
        // Also if the node was closed meanwhile: the node that replaces it delivers the record.
        this.#memory.queue.push(received, bytes);
      }
      return null;
    } catch (error) {
      return { refusal: "store", problem: problemOf(error) };
    } finally {
      keeping.items--;
      keeping.bytes -= bytes;
    }
  }

  #hasRoom(bytes: number): boolean {
    const { queue, keeping } = this.#memory;
    return queue.hasRoom(bytes, {
      items: this.#rules.queueLimit - keeping.items,
      bytes: mostWaitingBytes - keeping.bytes,
    });
  }
}
