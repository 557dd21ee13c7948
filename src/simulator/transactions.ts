import type { Content } from "./content.ts";
import { createEmitter } from "./emitter.ts";
import { newerFidelity, type Measurement, type References } from "./measurement.ts";
import type { TransactionIds } from "./options.ts";
import type { Random } from "./random.ts";

/** What made a measurement happen. */
export type Trigger = "local-api" | "cloud" | "scan" | "button";

/** One picture or video that belongs to a transaction. */
export interface MediaItem {
  readonly contentId: string;
  readonly contentType: string;
  readonly description: string;
}

interface StoredMedia extends MediaItem {
  /** Made when it is first asked for: most media are listed and never fetched. */
  readonly load: () => Content;
}

export interface Transaction extends References {
  /** As the cloud writes it in answers and paths. */
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

/** What is known of a transaction when it reaches the cloud. */
type NewTransaction = Omit<Transaction, "id" | "legacyId" | "guid" | "media" | "at">;

export interface Transactions {
  readonly all: readonly Transaction[];
  add(facts: NewTransaction, id?: string): Transaction;
  find(id: string): Transaction | undefined;
  attach(transaction: Transaction, media: Omit<StoredMedia, "contentId">): MediaItem;
  media(transaction: Transaction, contentId: string): StoredMedia | undefined;
  /** As it appears in an answer: a string, or a number where the cloud is set to send numbers. */
  idOnTheWire(transaction: Transaction): string | number;
  onAdded(listener: (transaction: Transaction) => void): () => void;
  onMedia(listener: (event: { transaction: Transaction; item: MediaItem }) => void): () => void;
  clear(): void;
  close(): void;
}

/** The cloud's memory. A transaction is found by whichever of its ids a caller has. */
export function createTransactions(ids: TransactionIds, random: Random): Transactions {
  const all: (Transaction & { media: MediaItem[] })[] = [];
  const byId = new Map<string, Transaction & { media: MediaItem[] }>();
  const contents = new Map<string, StoredMedia>();
  const added = createEmitter<Transaction>();
  const grown = createEmitter<{ transaction: Transaction; item: MediaItem }>();
  let lastId = 905_000 + random.integer(0, 999);
  return {
    all,
    add(facts, id) {
      do {
        lastId += random.integer(1, 3);
      } while (byId.has(String(lastId)));
      const guid = random.guid();
      const ownId = id ?? (ids === "guid" ? guid : String(lastId));
      const transaction = { ...facts, id: ownId, legacyId: lastId, guid, at: new Date(), media: [] };
      all.push(transaction);
      [String(lastId), guid, ownId.toLowerCase()].forEach((key) => byId.set(key, transaction));
      added.emit(transaction);
      return transaction;
    },
    find: (id) => byId.get(id.toLowerCase()),
    attach(transaction, media) {
      const contentId = random.guid();
      const { contentType, description } = media;
      const item = { contentId, contentType, description };
      const stored = byId.get(transaction.id.toLowerCase());
      // An upload that was on its way when everything was reset.
      if (stored === undefined) {
        return item;
      }
      stored.media.push(item);
      contents.set(`${transaction.guid}/${contentId}`, { ...media, contentId });
      grown.emit({ transaction, item });
      return item;
    },
    media: (transaction, contentId) => contents.get(`${transaction.guid}/${contentId.toLowerCase()}`),
    idOnTheWire: (transaction) => (ids === "integer" ? transaction.legacyId : transaction.id),
    onAdded: (listener) => added.on(listener),
    onMedia: (listener) => grown.on(listener),
    clear() {
      all.length = 0;
      byId.clear();
      contents.clear();
    },
    close() {
      added.close();
      grown.close();
    },
  };
}

/** The flat record of a measurement transaction, as webhooks carry it. */
export function transactionRecord(transaction: Transaction, version: "v1" | "v2"): Record<string, unknown> {
  const { measurement } = transaction;
  const object = measurement?.object ?? null;
  return {
    ...(version === "v1"
      ? { id: transaction.legacyId }
      : { id: transaction.guid, legacyId: transaction.legacyId }),
    deviceClientId: transaction.deviceClientId,
    errorCode: measurement?.errorCode ?? 0,
    errorDescription: measurement === null || measurement.errorCode === 0 ? "" : measurement.errorMessage,
    transactionDateTime: transaction.at.toISOString(),
    elapsedTimeMilliseconds: measurement?.elapsedMs ?? 0,
    isManualDimension: false,
    measurementUnitOfMeasureCd: measurement?.dimsUnit ?? null,
    weightUnitOfMeasureCd: measurement?.weightUnit ?? null,
    measurementFidelity: newerFidelity,
    rotationAngle: object?.rotationAngle ?? 0,
    length: object?.length ?? 0,
    width: object?.width ?? 0,
    height: object?.height ?? 0,
    weight: measurement?.weight ?? 0,
    cameraSerialId: `SIM-${transaction.deviceClientId.slice(0, 8).toUpperCase()}`,
    barcodeReference: transaction.barcodeReference,
    customReference1: transaction.customReference1,
    customReference2: transaction.customReference2,
    customReference3: transaction.customReference3,
    transactionReference: transaction.transactionReference,
  };
}
