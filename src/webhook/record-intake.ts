import { problemOf, type Problem } from "../errors/interpolation.ts";
import type { TransactionRecord } from "../model/shapes.ts";
import { DeliveryQueue, type Target } from "./delivery-queue.ts";
import type { PostedRecord } from "./posted-record.ts";
import { RecentIds } from "./recent-ids.ts";

/** Which records are taken. */
export interface IntakeRules {
  /** How long a record is known as a duplicate; 0: never. */
  readonly dedupeMs: number;
  /** How many records may wait to be handed on. */
  readonly queueLimit: number;
  readonly onlyOk: boolean;
  /** Only records of these devices; none: all. */
  readonly deviceClientIds: readonly string[];
}

/** A record on its way into the flow. */
export interface Received {
  readonly record: TransactionRecord;
  /** Its number in the store; null where there is none. */
  readonly recordId: number | null;
  /** It was received before the process was started. */
  readonly isResumed: boolean;
}

/** Keeps records before their senders are told that they were taken. */
export interface RecordKeeper {
  /**
   * Resolves when the record is durable, and whether it is to be handed on now: a duplicate is not, and one behind others
   * that wait in the store comes when it is its turn. Rejects where it may not be kept.
   */
  keep(record: TransactionRecord, dedupeMs: number): Promise<Received | null>;
}

/** What outlives a receiver, for the one that takes its place. */
export class WebhookMemory {
  readonly recent = new RecentIds();
  readonly queue = new DeliveryQueue<Received>();
  /** Numbers of the stored records that are in the queue, or were sent and are not noted as such yet. */
  readonly inHand = new Set<number>();
}

/** Why a record cannot be taken now: its sender has to post it again. */
export type NotTaken =
  | { readonly refusal: "full" }
  | { readonly refusal: "store"; readonly problem: Problem };

/** Bodies of the records that wait, together. */
const mostWaitingBytes = 32_000_000;

/**
 * Takes records into a queue, with a keeper once they are durable, and hands them on from there. A duplicate and a record
 * that nobody wants are dropped.
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

  /** Null: the record is taken or dropped. Never rejects. */
  async take(posted: PostedRecord): Promise<NotTaken | null> {
    if (!this.#isWanted(posted.record)) {
      return null;
    }
    return this.#keeper === undefined ? this.#takeInMemory(posted) : this.#keep(this.#keeper, posted);
  }

  #isWanted(record: TransactionRecord): boolean {
    const { onlyOk, deviceClientIds } = this.#rules;
    const device = record.deviceClientId?.toLowerCase() ?? "";
    return (record.ok || !onlyOk) && (deviceClientIds.length === 0 || deviceClientIds.includes(device));
  }

  /** Nothing waits in here, so that two posts of one record are told apart. */
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
    queue.push({ record, recordId: null, isResumed: false }, bytes);
    return null;
  }

  /** The store tells two posts of one record apart. */
  async #keep(keeper: RecordKeeper, { record, bytes }: PostedRecord): Promise<NotTaken | null> {
    if (!this.#hasRoom(bytes)) {
      return { refusal: "full" };
    }
    try {
      const received = await keeper.keep(record, this.#rules.dedupeMs);
      if (received !== null) {
        // Also where the node was closed meanwhile: the one that takes its place hands it on.
        this.#memory.queue.push(received, bytes);
      }
      return null;
    } catch (error) {
      return { refusal: "store", problem: problemOf(error) };
    }
  }

  #hasRoom(bytes: number): boolean {
    return this.#memory.queue.hasRoom(bytes, { items: this.#rules.queueLimit, bytes: mostWaitingBytes });
  }
}
