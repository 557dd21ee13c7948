import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { HourlyRemoval } from "../database/hourly-removal.ts";
import { type HandledParcel, Inbox, type Unsent } from "../database/inbox.ts";
import type { StoreConnection } from "../database/store-databases.ts";
import { leaseSeconds } from "../database/worker-lease.ts";
import { settledWithin } from "../time/after-limit.ts";
import type { PostedRecord, Received } from "./posted-record.ts";
import type { Room } from "./room.ts";
import { dayMs } from "../time/clocks.ts";

/** What records use of a store's database. */
type RecordsConnection = Omit<StoreConnection, "check" | "log">;

/** What one node needs of its store, and what it is told about it. */
export interface StoreUse {
  readonly store: {
    /** The same for all stores with the same database. */
    readonly databaseKey: string;
    connect(): Promise<RecordsConnection>;
  };
  readonly nodeId: string;
  /** The id of this run of the process. */
  readonly runId: string;
  /** Called when the database cannot be used; it is tried again. */
  readonly onTrouble: (error: unknown) => void;
  /** Called when all records were read that were there at the start, or that were found after the database had failed. */
  readonly onReady: (found: LeftOver) => void;
  /** Called after that if records were not handled for a week. */
  readonly onLongUnhandled: (count: number) => void;
}

/** What was found in the store. */
export interface LeftOver {
  /** Records that an earlier run had received. */
  readonly resumed: number;
  /** Rows whose content is not what was written. */
  readonly damaged: number;
}

/** The use of the table by one node, from its start until it is closed. */
interface OpenUse extends StoreUse {
  readonly closing: AbortController;
  inbox?: Promise<Inbox> | undefined;
  connection?: RecordsConnection;
  removal?: HourlyRemoval;
  /** The last read; the next one waits for it. */
  reading: Promise<unknown>;
  resumed: number;
  damaged: number;
  /** Whether a look that finds nothing is not worth a word. */
  isReady: boolean;
  hasCounted: boolean;
}

/** How many records are read at once. */
export const pageSize = 32;
const firstDelayMs = 1_000;
const longestDelayMs = 30_000;
const takeOverEveryMs = 5_000;
/** A deploy waits no longer for a disk that does not answer. */
const noteWithinMs = 5_000;
const firstAgainMs = 1_000;
const longestAgainMs = 3_600_000;
/** What PostgreSQL commits still later, while a standby server is away, is found at the next deploy. */
const latestCommitMs = dayMs;

/**
 * The records of a node in the table of one store: what is added, and what has to be read. Nodes that replace each other use it one
 * after the other, so that none of its records is read twice or overlooked.
 */
export class StoredRecords {
  readonly #databaseKey: string;
  readonly #room: Room;
  readonly #onMore: () => void;
  /** The use of the node that was opened last; it may be closed. */
  #use: OpenUse | undefined;
  /** No record with a lower number has to be read; infinite: none at all. */
  #from = 1;
  /** The numbers of the records that were read and are not noted as sent yet. */
  readonly #inHand = new Set<number>();
  /** The records that were added and not read yet: their number, and what they will take in memory. */
  readonly #unread = new Map<number, number>();
  /** The numbers of the records that were sent and have to be noted. */
  #sent: number[] = [];
  #again: NodeJS.Timeout | undefined;

  /** The records that were added or read take their place in `room`. `onMore` is called when there may be more to be read. */
  constructor(databaseKey: string, room: Room, onMore: () => void) {
    this.#databaseKey = databaseKey;
    this.#room = room;
    this.#onMore = onMore;
  }

  /** Whether there may be records to be read. */
  get hasMore(): boolean {
    return this.#isOpen && this.#from < Infinity;
  }

  /** Whether there are records that were added and not read. */
  get hasUnread(): boolean {
    return this.#isOpen && this.#unread.size > 0;
  }

  get #isOpen(): boolean {
    return this.#use?.closing.signal.aborted === false;
  }

  /**
   * Begins to use the store, and reads all again that was not sent. Returns a function that ends the use; it resolves when it was noted
   * what was sent, or after a few seconds if the disk does not answer.
   */
  open(given: StoreUse): () => Promise<void> {
    const found = { resumed: 0, damaged: 0, isReady: false, hasCounted: false };
    const use: OpenUse = { ...given, ...found, closing: new AbortController(), reading: Promise.resolve() };
    this.#use = use;
    this.#look(1);
    return () => this.#close(use);
  }

  /** Adds a record; resolves when it is durable, also if it is a duplicate. Rejects with ERR_STORE. */
  async add({ record, bytes }: PostedRecord, dedupeMs: number): Promise<void> {
    const use = this.#used();
    const inbox = await this.#inboxOf(use);
    const recordId = await inbox.add(record, dedupeMs).catch((error: unknown) => {
      // The record may be stored although the response was lost. If it is posted again, it counts as a duplicate, so the
      // stored one has to be read and sent.
      use.isReady = false;
      this.#lookUntilCommitted();
      throw error;
    });
    if (recordId === null) {
      return;
    }
    if (!this.#inHand.has(recordId) && !use.closing.signal.aborted) {
      this.#unread.set(recordId, bytes);
      this.#room.take(bytes);
    }
    // Also if others with higher numbers were read: of several connections to a database, one may add a record after another
    // one has added the next.
    this.#look(recordId);
  }

  /** Marks a transaction's records as handled, so that they are not sent again. Rejects with ERR_STORE. */
  async handled(transactionId: string, parcel: HandledParcel): Promise<number> {
    return (await this.#inboxOf(this.#used())).handled(transactionId, parcel);
  }

  /** Returns the next records; none if there are none, or if the node is closed. While the database fails, it is tried again. */
  read(): Promise<readonly Received[]> {
    const use = this.#used();
    const page = use.reading.then(() => this.#readPage(use));
    use.reading = page;
    return page;
  }

  async #readPage(use: OpenUse): Promise<readonly Received[]> {
    const { signal } = use.closing;
    let delayMs = firstDelayMs;
    for (; !signal.aborted && this.#from < Infinity; delayMs = Math.min(delayMs * 2, longestDelayMs)) {
      const from = this.#from;
      this.#from = Infinity;
      // What is noted as sent meanwhile is not in hand any more when the answer comes.
      const before = new Set(this.#inHand);
      try {
        const inbox = await this.#inboxOf(use);
        const page = await inbox.unsent(from - 1, pageSize);
        if (!signal.aborted) {
          return this.#take(use, inbox, page, before);
        }
      } catch (error) {
        if (!signal.aborted) {
          use.isReady = false;
          use.onTrouble(error);
        }
      }
      this.#look(from);
      await sleep(delayMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
    return [];
  }

  /** To be called when the flow has received a record, so that a deploy does not send it again. */
  sent(recordId: number): void {
    this.#sent.push(recordId);
    setImmediate(() => {
      // Where a deploy has given the node another store, it is noted when a node uses this one again.
      if (this.#isOpen) {
        void this.#noteSent(this.#used());
      }
    });
  }

  #take(use: OpenUse, inbox: Inbox, page: Unsent, before: ReadonlySet<number>): readonly Received[] {
    const received: Received[] = [];
    for (const { record, recordId, bytes: length, corrects, isResumed } of page.records) {
      if (before.has(recordId) || this.#inHand.has(recordId)) {
        continue;
      }
      const bytes = this.#unread.get(recordId) ?? length;
      if (!this.#unread.delete(recordId)) {
        this.#room.take(bytes);
      }
      this.#inHand.add(recordId);
      use.resumed += Number(isResumed);
      received.push({ record, bytes, kept: { store: this.#databaseKey, recordId }, corrects, isResumed });
    }
    use.damaged += page.damaged.length;
    if (page.hasMore) {
      this.#look(page.last + 1);
    }
    if (this.#from === Infinity) {
      this.#allRead(use, inbox);
    }
    return received;
  }

  #allRead(use: OpenUse, inbox: Inbox): void {
    // What is still there was handled before it was sent.
    this.#forgetUnread();
    const { resumed, damaged } = use;
    [use.resumed, use.damaged] = [0, 0];
    if (!use.isReady || resumed > 0) {
      use.isReady = true;
      use.onReady({ resumed, damaged });
    }
    if (!use.hasCounted) {
      use.hasCounted = true;
      void this.#countLongUnhandled(use, inbox);
    }
  }

  #forgetUnread(): void {
    this.#unread.forEach((bytes) => this.#room.give(bytes));
    this.#unread.clear();
  }

  /** Only for the log: among very many records it takes so long that no record may have to wait for it, or for its success. */
  async #countLongUnhandled({ closing, onLongUnhandled }: OpenUse, inbox: Inbox): Promise<void> {
    const count = await inbox.countLongUnhandled().catch(() => 0);
    if (count > 0 && !closing.signal.aborted) {
      onLongUnhandled(count);
    }
  }

  /** To be called for a record that is in the table, or may be, and that nobody has in hand; 1 if its number is not known. */
  #look(recordId: number): void {
    this.#from = Math.min(this.#from, recordId);
    this.#onMore();
  }

  /**
   * To be called if the database has not answered: PostgreSQL may commit much later what nobody can see until then. Each look comes
   * after twice the pause, so what is committed within a day is found soon, however long that took. Each reads all records. It goes on
   * while no node uses the store: a deploy may be about to open it.
   */
  #lookUntilCommitted(pauseMs = firstAgainMs, leftMs = latestCommitMs): void {
    this.#look(1);
    clearTimeout(this.#again);
    if (leftMs > 0) {
      const again = (): void =>
        this.#lookUntilCommitted(Math.min(pauseMs * 2, longestAgainMs), leftMs - pauseMs);
      this.#again = setTimeout(again, pauseMs).unref();
    }
  }

  #used(): OpenUse {
    if (this.#use === undefined) {
      throw new Error("no node uses the store");
    }
    return this.#use;
  }

  #inboxOf(use: OpenUse): Promise<Inbox> {
    use.inbox ??= this.#openInbox(use).catch((error: unknown) => {
      // A database that could not be opened is tried again when it is next used.
      use.inbox = undefined;
      throw error;
    });
    return use.inbox;
  }

  async #openInbox(use: OpenUse): Promise<Inbox> {
    const { store, nodeId, runId } = use;
    const connection = await store.connect();
    const { database, worker, arrivals } = connection;
    const inbox = new Inbox(database, { nodeId, runId, worker, arrivals });
    if (use.closing.signal.aborted) {
      await connection.release();
      return inbox;
    }
    use.connection = connection;
    use.removal = new HourlyRemoval(() => inbox.removeOld(), true);
    if (!worker.isAlone) {
      void this.#takeOver(use, inbox);
    }
    return inbox;
  }

  /** Takes over the records of other workers that have stopped, until the node closes. */
  async #takeOver(use: OpenUse, inbox: Inbox): Promise<void> {
    const { signal } = use.closing;
    for (let pauseMs = 0; !signal.aborted;) {
      try {
        while ((await inbox.takeOver()) > 0) {
          this.#look(1);
        }
        pauseMs = takeOverEveryMs;
      } catch {
        // They may have been taken over, and only the answer is lost.
        use.isReady = false;
        this.#lookUntilCommitted();
        // The others could not renew their leases either, and do so first.
        pauseMs = leaseSeconds * 1000;
      }
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  async #noteSent(use: OpenUse): Promise<void> {
    if (this.#sent.length === 0) {
      return;
    }
    const sent = this.#sent;
    this.#sent = [];
    try {
      await (await this.#inboxOf(use)).sent(sent);
      sent.forEach((recordId) => this.#inHand.delete(recordId));
    } catch (error) {
      // It stays in hand, so that this run does not send it again. A restart does.
      use.onTrouble(error);
    }
  }

  async #close(use: OpenUse): Promise<void> {
    use.closing.abort();
    // The next node finds it in the table, unless it has another one.
    this.#forgetUnread();
    // What was sent in this turn of the event loop has arrived then.
    await nextTurn();
    if (use.connection !== undefined) {
      await settledWithin(Promise.all([this.#noteSent(use), use.removal?.stop()]), noteWithinMs);
      await use.connection.release();
    }
  }
}
