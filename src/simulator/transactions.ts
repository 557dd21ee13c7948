import type { Content } from "./responses.ts";
import { createEmitter, createHistory, type HistoryLimits } from "./history.ts";
import type { Measurement, References } from "./measurement.ts";
import type { TransactionIds } from "./options.ts";
import type { Random } from "./random.ts";
import type { Timers } from "./timers.ts";

/** What triggered a measurement. */
export type Trigger = "local-api" | "cloud" | "scan" | "button";

/** One image or video of a transaction. */
export interface MediaItem {
  readonly contentId: string;
  readonly contentType: string;
  readonly description: string;
}

interface StoredMedia extends MediaItem {
  /** Creates the content for each request, because most media are listed and never requested. */
  readonly load: () => Content;
}

/** An image or a video that is being uploaded to the cloud. */
export interface NewStoredMedia extends Omit<StoredMedia, "contentId"> {
  /**
   * Bytes of memory that only this medium takes: 0 for content of the catalogue, or content that is generated while it
   * is sent.
   */
  readonly heldBytes: number;
}

export interface Transaction extends References {
  /** The id as the cloud writes it in responses and paths. */
  readonly id: string;
  readonly legacyId: number;
  readonly guid: string;
  readonly kind: "measurement" | "video" | "by-hand";
  readonly deviceClientId: string;
  readonly barcodeReference: string | null;
  readonly trigger: Trigger | null;
  readonly measurement: Measurement | null;
  readonly at: Date;
  readonly media: readonly MediaItem[];
}

/** The facts of a transaction when it reaches the cloud. */
type NewTransaction = Omit<Transaction, "id" | "legacyId" | "guid" | "media" | "at">;

export interface Transactions {
  readonly all: readonly Transaction[];
  add(facts: NewTransaction, id?: string): Transaction;
  find(id: string): Transaction | undefined;
  attach(transaction: Transaction, media: NewStoredMedia): MediaItem;
  /** Attaches after a delay, unless the transaction is forgotten before. */
  attachLater(delayMs: number, transaction: Transaction, media: readonly NewStoredMedia[]): void;
  media(transaction: Transaction, contentId: string): StoredMedia | undefined;
  /** The id in JSON: a string, or a number if an option says so. */
  idOnTheWire(transaction: Transaction): string | number;
  onAdded(listener: (transaction: Transaction) => void): () => void;
  onMedia(listener: (event: { transaction: Transaction; item: MediaItem }) => void): () => void;
  clear(): void;
  close(): void;
}

/** The parts of a transaction that are not listed. */
interface StoredTransaction {
  readonly transaction: Transaction & { readonly media: MediaItem[] };
  readonly contents: Map<string, StoredMedia>;
  readonly uploads: Set<{ cancel: () => void }>;
}

// The range is large enough that two runs hardly ever have an id in common.
const firstIds = { from: 100_000_000, to: 1_900_000_000 };
const recordBytes = 3000;
const mediumBytes = 700;

/** About what a transaction takes in memory, without its media. */
export function transactionBytes(transaction: NewTransaction): number {
  const { transactionReference, customReference1, customReference2, customReference3 } = transaction;
  const texts = [transactionReference, customReference1, customReference2, customReference3];
  return recordBytes + texts.reduce((sum, text) => sum + 2 * (text?.length ?? 0), 0);
}

/**
 * The transactions that the cloud stores. A transaction is found by any of its ids. The oldest ones are forgotten with
 * all their media, as by a cloud that stores records for a limited time.
 */
export function createTransactions(
  ids: TransactionIds,
  random: Random,
  timers: Timers,
  limits: HistoryLimits,
): Transactions {
  const byId = new Map<string, StoredTransaction>();
  const history = createHistory<StoredTransaction["transaction"]>(limits, forget);
  const added = createEmitter<Transaction>();
  const grown = createEmitter<{ transaction: Transaction; item: MediaItem }>();
  let lastId = random.integer(firstIds.from, firstIds.to);

  const keysOf = ({ legacyId, guid, id }: Transaction): string[] => [
    String(legacyId),
    guid,
    id.toLowerCase(),
  ];
  const storedOf = (transaction: Transaction): StoredTransaction | undefined => byId.get(transaction.guid);

  function forget(transaction: Transaction): void {
    const stored = storedOf(transaction);
    stored?.uploads.forEach(({ cancel }) => cancel());
    for (const key of keysOf(transaction)) {
      if (byId.get(key) === stored) {
        byId.delete(key);
      }
    }
  }

  function attach(transaction: Transaction, { heldBytes, ...media }: NewStoredMedia): MediaItem {
    const contentId = random.guid();
    const { contentType, description } = media;
    const item = { contentId, contentType, description };
    const stored = storedOf(transaction);
    // The transaction was forgotten or reset during the upload.
    if (stored === undefined) {
      return item;
    }
    stored.transaction.media.push(item);
    stored.contents.set(contentId, { ...media, contentId });
    history.grow(stored.transaction, mediumBytes + heldBytes);
    grown.emit({ transaction, item });
    return item;
  }

  return {
    all: history.all,
    add(facts, id) {
      do {
        lastId += random.integer(1, 3);
      } while (byId.has(String(lastId)));
      const guid = random.guid();
      const ownId = id ?? (ids === "guid" ? guid : String(lastId));
      const transaction = { ...facts, id: ownId, legacyId: lastId, guid, at: new Date(), media: [] };
      const stored = {
        transaction,
        contents: new Map<string, StoredMedia>(),
        uploads: new Set<{ cancel: () => void }>(),
      };
      keysOf(transaction).forEach((key) => byId.set(key, stored));
      history.add(transaction, transactionBytes(facts));
      added.emit(transaction);
      return transaction;
    },
    find: (id) => byId.get(id.toLowerCase())?.transaction,
    attach,
    attachLater(delayMs, transaction, media) {
      const stored = storedOf(transaction);
      const upload = { cancel: (): void => undefined };
      stored?.uploads.add(upload);
      upload.cancel = timers.after(delayMs, () => {
        stored?.uploads.delete(upload);
        media.forEach((one) => attach(transaction, one));
      });
    },
    media: (transaction, contentId) => storedOf(transaction)?.contents.get(contentId.toLowerCase()),
    idOnTheWire: (transaction) => (ids === "integer" ? transaction.legacyId : transaction.id),
    onAdded: (listener) => added.on(listener),
    onMedia: (listener) => grown.on(listener),
    clear() {
      history.all.forEach(forget);
      history.clear();
    },
    close() {
      added.close();
      grown.close();
    },
  };
}
