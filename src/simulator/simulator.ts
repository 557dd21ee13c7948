import type { EarlierState } from "./devices.ts";
import type { Faults } from "./faults.ts";
import type { Actions, DeviceButton, MachineState, ScanReply } from "./machine.ts";
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

/** The simulated newer device: the device itself and its local API. */
export interface SimulatedNewerDevice extends Listening {
  readonly state: MachineState;
  /** How often the device has acted, even if the responses were lost. */
  readonly actions: Actions;
  readonly powered: boolean;
  readonly localApi: boolean;
  /** Changes the mode, which drops a running recording and keeps the saved video. */
  setMode(mode: Mode): void;
  /** Puts a parcel of the catalogue or a custom one on the table; null leaves it empty. */
  setParcel(parcel: string | CustomParcel | null): void;
  /** Off: the port refuses connections, the cloud responds with 504, and the device's memory is cleared. */
  setPower(on: boolean): void;
  /** The Enable Local API switch of the device's configuration portal. */
  setLocalApi(on: boolean): void;
  /**
   * Scans a barcode at the device as an operator does; the barcode of a parcel of the catalogue puts it on the table.
   */
  scanAtDevice(barcode: string): Promise<ScanReply>;
  /** Presses a button on the device's screen as an operator does. */
  pressAtDevice(button: DeviceButton): Promise<ScanReply>;
  /** The bytes of the saved video, generated while they are read; null if there is none. */
  readSavedVideo(): Iterable<Uint8Array> | null;
}

export interface SimulatedEarlierDevice extends Listening {
  readonly state: EarlierState;
  readonly actions: { readonly measures: number };
  /** Starts a measurement at the device as an operator does. */
  measureAtDevice(): Promise<void>;
  setParcel(parcel: string | CustomParcel | null): void;
  setLegalForTrade(on: boolean): void;
}

export interface NewMedia {
  readonly contentType: string;
  readonly description?: string;
  /** The content itself. */
  readonly bytes?: Uint8Array;
  /** Alternatively the length of generated content; for video/mp4 a playable video. */
  readonly generateBytes?: number;
}

export interface SimulatedCloud extends Listening {
  readonly token: string;
  readonly transactions: readonly Transaction[];
  readonly devices: readonly Registration[];
  readonly simulationMode: boolean;
  readonly webhookPosts: readonly WebhookPost[];
  /** How the webhooks' records differ from the device's response. */
  readonly records: RecordChanges;
  setSimulationMode(on: boolean): void;
  /** Changes the records that are posted from now on. */
  setRecords(changes: Partial<RecordChanges>): void;
  /** Adds media to a transaction; one that the cloud does not know is created with this id. */
  addMedia(transactionId: string, media: NewMedia): MediaItem;
}

/** A scanner at the packing table. Node-RED connects to its port, or it connects to Node-RED. */
export interface SimulatedScanner {
  readonly host: string;
  readonly port: number;
  /** How many connections receive its scans at this moment. */
  readonly connections: number;
  readonly on: boolean;
  readonly settings: ScannerSettings;
  /** The last scan that was sent. */
  readonly last: SentScan | null;
  set(settings: Partial<ScannerSettings>): void;
  /** Off: the port refuses connections, and all open ones end. */
  setPower(on: boolean): void;
  /** Presses the trigger; resolves when everything was sent. */
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
  /** All requests since the start or the last reset, in the order of arrival. */
  readonly requests: readonly RequestRecord[];
  requestsTo(surface: SurfaceName, pathPrefix?: string): RequestRecord[];
  /** Calls the listener when a request arrives. Returns a function that removes it. */
  onRequest(listener: (record: RequestRecord) => void): () => void;
  /** Calls the listener when a request was answered or has ended without a response. */
  onSettled(listener: (record: RequestRecord) => void): () => void;
  /** The next request that matches. */
  nextRequest(fits?: (record: RequestRecord) => boolean): Promise<RequestRecord>;
  /** Resolves when the request was answered or has ended without a response. */
  settled(record: Pick<RequestRecord, "id">): Promise<RequestRecord>;
  onEvent(listener: (event: SimulatorEvent) => void): () => void;
  nextEvent(fits?: (event: SimulatorEvent) => boolean): Promise<SimulatorEvent>;
  /** Restores the state after the start: no faults, no requests, no transactions, an idle device. */
  reset(): void;
  /** Ends everything, including open connections and timers. */
  close(): Promise<void>;
}
