import { problemOf, type Problem } from "../errors/interpolation.ts";
import type { KnownDevice } from "../model/instrument.ts";
import type { TransactionRecord } from "../model/shapes.ts";
import { DeliveryQueue, type Target } from "./delivery-queue.ts";
import type { PostedRecord } from "./posted-record.ts";
import { RecentIds } from "./recent-ids.ts";
import { StoredProgress } from "./stored-progress.ts";

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
