import { setTimeout as sleep } from "node:timers/promises";
import type { TransactionRecord } from "../../model/shapes.ts";
import type { HandledParcel } from "../../database/handled-records.ts";
import { HourlyRemoval } from "../../database/hourly-removal.ts";
import { Inbox } from "../../database/inbox.ts";
import { settledWithin } from "../../time/settled-within.ts";
import type { DatabaseLease } from "../../database/store-databases.ts";
import { leaseSeconds } from "../../database/worker-lease.ts";
import type { Received, RecordKeeper } from "../../webhook/record-intake.ts";
import { LeftOverRecords, type LeftOverOptions } from "./left-over-records.ts";

/** What is needed of a store. */
interface LeasesDatabase {
  /** The same for all stores with the same database. */
  readonly databaseKey: string;
  lease(): Promise<DatabaseLease>;
}

interface StoredRecordsOptions extends LeftOverOptions {
  readonly nodeId: string;
  /** The id of this run of the process. */
  readonly runId: string;
  /** Called when the database cannot be used; it is tried again. */
  readonly onTrouble: (error: unknown) => void;
}

const firstDelayMs = 1_000;
const longestDelayMs = 30_000;
const takeOverEveryMs = 5_000;
/** A deploy waits no longer for a disk that does not answer. */
const noteWithinMs = 5_000;

/**
 * Keeps a webhook's records in a store, and passes on those of an earlier run in the order in which they arrived.
 * Records that arrive meanwhile are kept, and follow after them.
 */
export class StoredRecords implements RecordKeeper {
  readonly #store: LeasesDatabase;
  /** As the records that were handed on name it. */
  readonly #database: string;
  readonly #options: StoredRecordsOptions;
  readonly #closing = new AbortController();
  readonly #leftOver: LeftOverRecords;
  #lease: DatabaseLease | undefined;
  #inbox: Promise<Inbox> | undefined;
  #removal: HourlyRemoval | undefined;
  #sent: number[] = [];
  readonly #read = (): void => void this.#readWhenThere();

  constructor(store: LeasesDatabase, options: StoredRecordsOptions) {
    this.#store = store;
    this.#database = store.databaseKey;
    this.#options = options;
    this.#leftOver = new LeftOverRecords(this.#database, options, this.#closing.signal);
  }

  /**
   * Passes on what was left over, and again what could not be passed on when it was kept. It is tried again until it
   * succeeds or `close` is called.
   */
  open(): void {
    const { progress } = this.#options;
    if (progress.read !== this.#read) {
      progress.read = this.#read;
      progress.isReading = true;
      progress.readTo = 0;
      progress.unread.add(0);
      this.#read();
    }
  }

  async keep(record: TransactionRecord, dedupeMs: number): Promise<Received | null> {
    const inbox = await this.#openInbox();
    const recordId = await this.#add(inbox, record, dedupeMs);
    if (recordId === null) {
      return null;
    }
    const { progress } = this.#options;
    if (progress.isReading || recordId <= progress.readTo) {
      // Another node may have replaced this one meanwhile, and have read the record. Or it was read past: of several connections to
      // a database, one may have added a record after another one had added the next.
      if (!progress.inHand.has(recordId)) {
        progress.leaveUnread(recordId);
      }
      return null;
    }
    progress.inHand.add(recordId);
    return { record, kept: { store: this.#database, recordId }, isResumed: false };
  }

  /** To be called when the flow has received a record, so that a deploy does not send it again. */
  delivered({ kept }: Received): void {
    // A deploy may have given the node another store, which has other records with the same numbers.
    if (kept?.store !== this.#database) {
      return;
    }
    const { recordId } = kept;
    if (this.#sent.push(recordId) === 1) {
      setImmediate(() => void this.#noteSent());
    }
    this.#leftOver.delivered(recordId);
  }

  /** Marks a transaction's records as handled, so that they are not sent again. Rejects with ERR_STORE. */
  async handled(transactionId: string, parcel: HandledParcel): Promise<number> {
    return (await this.#openInbox()).handled(transactionId, parcel);
  }

  /** Resolves when it was noted what was sent, or after a few seconds if the disk does not answer. */
  async close(): Promise<void> {
    this.#closing.abort();
    const { progress } = this.#options;
    if (progress.read === this.#read) {
      progress.read = undefined;
    }
    if (this.#lease !== undefined) {
      await settledWithin(Promise.all([this.#noteSent(), this.#removal?.stop()]), noteWithinMs);
      await this.#lease.release();
    }
  }

  async #readWhenThere(): Promise<void> {
    const { signal } = this.#closing;
    for (let delayMs = firstDelayMs; !signal.aborted; delayMs = Math.min(delayMs * 2, longestDelayMs)) {
      try {
        await this.#leftOver.handOn(await this.#openInbox());
        return;
      } catch (error) {
        if (!signal.aborted) {
          this.#leftOver.sayAgain();
          this.#options.progress.unread.add(0);
          this.#options.onTrouble(error);
          await sleep(delayMs, undefined, { signal, ref: false }).catch(() => undefined);
        }
      }
    }
  }

  #openInbox(): Promise<Inbox> {
    if (this.#inbox === undefined) {
      this.#inbox = this.#leaseInbox();
      // A database that could not be opened is tried again when it is next used.
      this.#inbox.catch(() => {
        this.#inbox = undefined;
      });
    }
    return this.#inbox;
  }

  async #leaseInbox(): Promise<Inbox> {
    const { nodeId, runId } = this.#options;
    const lease = await this.#store.lease();
    this.#lease = lease;
    const { database, worker, arrivals } = lease;
    const inbox = new Inbox(database, { nodeId, runId, worker, arrivals });
    if (this.#closing.signal.aborted) {
      await lease.release();
    } else {
      this.#removal = new HourlyRemoval(() => inbox.removeOld(), true);
    }
    if (!worker.isAlone) {
      void this.#takeOver(inbox);
    }
    return inbox;
  }

  /** Takes over the records of other workers that have stopped, until the node closes. */
  async #takeOver(inbox: Inbox): Promise<void> {
    const { signal } = this.#closing;
    const { progress } = this.#options;
    for (let pauseMs = 0; !signal.aborted;) {
      try {
        while ((await inbox.takeOver()) > 0) {
          progress.leaveUnread(0);
        }
        pauseMs = takeOverEveryMs;
      } catch {
        // They may have been taken over, and only the answer is lost.
        this.#leaveUnanswered();
        // The others could not renew their leases either, and do so first.
        pauseMs = leaseSeconds * 1000;
      }
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  async #add(inbox: Inbox, record: TransactionRecord, dedupeMs: number): Promise<number | null> {
    try {
      return await inbox.add(record, dedupeMs);
    } catch (error) {
      // The record may be stored although the response was lost. If it is posted again, it counts as a duplicate, so the
      // stored one has to be read and sent.
      this.#leaveUnanswered();
      throw error;
    }
  }

  #leaveUnanswered(): void {
    this.#leftOver.sayAgain();
    this.#options.progress.leaveUnanswered();
  }

  async #noteSent(): Promise<void> {
    const sent = this.#sent;
    this.#sent = [];
    try {
      const inbox = await this.#inbox;
      await inbox?.sent(sent);
      sent.forEach((recordId) => this.#options.progress.inHand.delete(recordId));
    } catch (error) {
      // A record that is not noted as sent is sent again after a restart.
      this.#options.onTrouble(error);
    }
  }
}
