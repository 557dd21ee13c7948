import { setTimeout as sleep } from "node:timers/promises";
import type { TransactionRecord } from "../../model/shapes.ts";
import type { HandledParcel } from "../../store/handled-records.ts";
import { HourlyRemoval } from "../../store/hourly-removal.ts";
import { Inbox } from "../../store/inbox.ts";
import { settledWithin } from "../../time/settled-within.ts";
import type { DatabaseLease } from "../../store/store-databases.ts";
import { leaseSeconds } from "../../store/worker-lease.ts";
import type { Received, RecordKeeper, StoredProgress } from "../../webhook/record-intake.ts";

/** What is needed of a store. */
interface LeasesDatabase {
  /** The same for all stores with the same database. */
  readonly databaseKey: string;
  lease(): Promise<DatabaseLease>;
}

interface StoredRecordsOptions {
  readonly nodeId: string;
  /** The id of this run of the process. */
  readonly runId: string;
  /** A node that replaces another one continues with the same. */
  readonly progress: StoredProgress;
  /** Passes on a record that was left over, after those before it. */
  readonly handOn: (received: Received, bytes: number) => void;
  /** Called when the database cannot be used; it is tried again. */
  readonly onTrouble: (error: unknown) => void;
  /** Called once all records that were left over were passed on. */
  readonly onReady: (found: LeftOver) => void;
  /** Called after that if records were not handled for a week. */
  readonly onTooOld: (count: number) => void;
}

/** What was found in the store at the start. */
export interface LeftOver {
  readonly resumed: number;
  /** Rows whose content is not what was written. */
  readonly damaged: number;
}

const firstDelayMs = 1_000;
const longestDelayMs = 30_000;
/**
 * How many records of an earlier run are read at once; the next ones are read when fewer wait for the flow. Each may have
 * a megabyte.
 */
const pageSize = 32;
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
  #lease: DatabaseLease | undefined;
  #inbox: Promise<Inbox> | undefined;
  #removal: HourlyRemoval | undefined;
  /** Records that were left over and not delivered yet. */
  readonly #outstanding = new Set<number>();
  #onDelivered: (() => void) | undefined;
  #sent: number[] = [];
  /** Whether a look that finds nothing new is not worth a word. */
  #isAllSaid = false;
  #hasCounted = false;
  readonly #read = (): void => void this.#readWhenThere();

  constructor(store: LeasesDatabase, options: StoredRecordsOptions) {
    this.#store = store;
    this.#database = store.databaseKey;
    this.#options = options;
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
    if (this.#outstanding.delete(recordId)) {
      this.#onDelivered?.();
    }
  }

  /** Marks a transaction's records as handled, so that they are not sent again. Rejects with ERR_STORE. */
  async handled(transactionId: string, parcel: HandledParcel): Promise<number> {
    return (await this.#openInbox()).handled(transactionId, parcel);
  }

  /** Resolves when it was noted what was sent, or after a few seconds if the disk does not answer. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#onDelivered?.();
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
        await this.#handOnLeftOver(await this.#openInbox());
        return;
      } catch (error) {
        if (!signal.aborted) {
          this.#isAllSaid = false;
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
    this.#isAllSaid = false;
    this.#options.progress.leaveUnanswered();
  }

  async #handOnLeftOver(inbox: Inbox): Promise<void> {
    const { progress, handOn, onReady } = this.#options;
    const { signal } = this.#closing;
    let [resumed, damaged] = [0, 0];
    while (!signal.aborted) {
      // Not Math.min(...): so many arguments as records may have arrived meanwhile would be too many.
      let after = [...progress.unread].reduce((one, other) => Math.min(one, other), Infinity) - 1;
      progress.unread.clear();
      for (let hasMore = true; hasMore;) {
        // What is noted as sent meanwhile is not in hand any more when the answer comes.
        const before = new Set(progress.inHand);
        const page = await inbox.unsent(after, pageSize);
        if (signal.aborted) {
          return;
        }
        ({ hasMore, last: after } = page);
        progress.readTo = Math.max(progress.readTo, after);
        damaged += page.damaged.length;
        for (const { record, recordId, bytes, isResumed } of page.records) {
          progress.unread.delete(recordId);
          if (!before.has(recordId) && !progress.inHand.has(recordId)) {
            resumed += 1;
            progress.inHand.add(recordId);
            this.#outstanding.add(recordId);
            handOn({ record, kept: { store: this.#database, recordId }, isResumed }, bytes);
          }
        }
        if (!hasMore && progress.unread.size === 0) {
          progress.isReading = false;
          if (!this.#isAllSaid || resumed > 0) {
            this.#isAllSaid = true;
            onReady({ resumed, damaged });
          }
          void this.#countTooOld(inbox);
          return;
        }
        await this.#untilDelivered();
      }
    }
  }

  /** Only for the log: among very many records it takes so long that no record may have to wait for it, or for its success. */
  async #countTooOld(inbox: Inbox): Promise<void> {
    if (this.#hasCounted) {
      return;
    }
    this.#hasCounted = true;
    const count = await inbox.countTooOld().catch(() => 0);
    if (count > 0 && !this.#closing.signal.aborted) {
      this.#options.onTooOld(count);
    }
  }

  /** Waits until most of the records were delivered, so that the records of a week are not in memory all at once. */
  async #untilDelivered(): Promise<void> {
    while (this.#outstanding.size >= pageSize && !this.#closing.signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#onDelivered = resolve;
      });
    }
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
