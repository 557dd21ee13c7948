import type { EarlierState } from "./earlier-device.ts";
import type { Faults } from "./faults.ts";
import type { Actions, DeviceButton, MachineState, ScanReply } from "./machine-types.ts";
import type { Mode, RecordChanges, SimulatorOptions } from "./options.ts";
import type { Registration } from "./registered-devices.ts";
import type { RequestRecord, SurfaceName } from "./requests.ts";
import type { CustomParcel } from "./parcels.ts";
import type { ScanCommand, ScannerSettings, SentScan } from "./scanner-types.ts";
import type { MediaItem, Transaction } from "./transactions.ts";
import type { WebhookPost } from "./webhooks.ts";

export interface Listening {
  /** `http://127.0.0.1:8101`, without a slash at the end. */
  readonly origin: string;
  readonly port: number;
  /** Open connections at this moment. */
  readonly connections: number;
}

/** The simulated newer device: the machine and its local API. */
export interface SimulatedNewerDevice extends Listening {
  readonly state: MachineState;
  /** What the machine did, even if the answers were lost. */
  readonly actions: Actions;
  readonly powered: boolean;
  readonly localApi: boolean;
  /** A change of mode ends a recording and clears the saved video. */
  setMode(mode: Mode): void;
  /** Puts a parcel of the catalogue or one of your own on the table; null leaves it empty. */
  setParcel(parcel: string | CustomParcel | null): void;
  /** Off: the port refuses, the cloud answers 504, what was in memory is lost. */
  setPower(on: boolean): void;
  /** The Enable Local API switch of the device's configuration portal. */
  setLocalApi(on: boolean): void;
  /** An operator scans a barcode at the device; one of the catalogue puts its parcel on the table. */
  scanAtDevice(barcode: string): Promise<ScanReply>;
  /** An operator presses a button on the device's screen. */
  pressAtDevice(button: DeviceButton): Promise<ScanReply>;
  /** The saved video's bytes, generated while they are read; null when there is none. */
  readSavedVideo(): Iterable<Uint8Array> | null;
}

export interface SimulatedEarlierDevice extends Listening {
  readonly state: EarlierState;
  readonly actions: { readonly measures: number };
  /** An operator starts a measurement at the device. */
  measureAtDevice(): Promise<void>;
  setParcel(parcel: string | CustomParcel | null): void;
  setLegalForTrade(on: boolean): void;
}

export interface NewMedia {
  readonly contentType: string;
  readonly description?: string;
  /** The content itself. */
  readonly bytes?: Uint8Array;
  /** Or: content of this length, generated while it is sent; for video/mp4 a playable video. */
  readonly generateBytes?: number;
}

export interface SimulatedCloud extends Listening {
  readonly token: string;
  readonly transactions: readonly Transaction[];
  readonly devices: readonly Registration[];
  readonly simulationMode: boolean;
  readonly webhookPosts: readonly WebhookPost[];
  /** What the webhooks' records have otherwise than the device's answer. */
  readonly records: RecordChanges;
  setSimulationMode(on: boolean): void;
  /** Of the records that are posted from now on. */
  setRecords(changes: Partial<RecordChanges>): void;
  /** Puts media into a transaction by hand; one that the cloud doesn't know is created with this id. */
  addMedia(transactionId: string, media: NewMedia): MediaItem;
}

/** A scanner at the packing table. Node-RED connects to its port, or it connects to Node-RED. */
export interface SimulatedScanner {
  readonly host: string;
  readonly port: number;
  /** How many receive its scans at this moment. */
  readonly connections: number;
  readonly on: boolean;
  readonly settings: ScannerSettings;
  /** The scan that it has sent last. */
  readonly last: SentScan | null;
  set(settings: Partial<ScannerSettings>): void;
  /** Off: the port refuses, and all connections end. */
  setPower(on: boolean): void;
  /** Presses its trigger; resolves when everything is sent. */
  scan(command?: ScanCommand): Promise<SentScan>;
}

/** An event of the simulator. */
export type SimulatorEvent =
  | { readonly type: "state" }
  | { readonly type: "reset" }
  | { readonly type: "transaction"; readonly transaction: Transaction }
  | { readonly type: "media"; readonly transactionId: string; readonly item: MediaItem }
  | { readonly type: "webhook"; readonly post: WebhookPost };

/** A newer device, an earlier device, a cloud and a scanner, each on its own port, and a port to control them. */
export interface Simulator {
  readonly options: SimulatorOptions;
  readonly newer: SimulatedNewerDevice;
  readonly earlier: SimulatedEarlierDevice;
  readonly cloud: SimulatedCloud;
  readonly scanner: SimulatedScanner;
  readonly control: Listening;
  readonly parcels: readonly string[];
  readonly faults: Faults;
  /** Every request since the start or the last reset, in the order of arrival. */
  readonly requests: readonly RequestRecord[];
  requestsTo(surface: SurfaceName, pathPrefix?: string): RequestRecord[];
  /** Called as a request arrives. Returns a function that ends it. */
  onRequest(listener: (record: RequestRecord) => void): () => void;
  /** Called when a request was answered or has ended without an answer. */
  onSettled(listener: (record: RequestRecord) => void): () => void;
  /** The next request that matches. */
  nextRequest(fits?: (record: RequestRecord) => boolean): Promise<RequestRecord>;
  /** Resolves when the request was answered or has ended without an answer. */
  settled(record: Pick<RequestRecord, "id">): Promise<RequestRecord>;
  onEvent(listener: (event: SimulatorEvent) => void): () => void;
  nextEvent(fits?: (event: SimulatorEvent) => boolean): Promise<SimulatorEvent>;
  /** Back to the state after the start: no faults, no requests, no transactions, an idle device. */
  reset(): void;
  /** Ends everything, open connections and timers included. */
  close(): Promise<void>;
}
