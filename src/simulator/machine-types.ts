import type { Content } from "./content.ts";
import type { Measurement, References } from "./measurement.ts";
import type { Mode, SimulatorOptions } from "./options.ts";
import type { ImageKind, Parcels, TableParcel } from "./parcels.ts";
import type { Random } from "./random.ts";
import type { Timers } from "./timers.ts";
import type { Transaction, Transactions, Trigger } from "./transactions.ts";
import type { SavedVideo } from "./video-recorder.ts";

/** How often the device has acted, even if the responses were lost. */
export interface Actions {
  readonly measures: number;
  readonly starts: number;
  readonly stops: number;
  readonly cancels: number;
}

/** What the device's own display shows of its latest measurement. */
export interface LastMeasurement {
  readonly measurement: Measurement;
  /** Null: the table was empty, there is no picture. */
  readonly imageIdentifier: string | null;
  readonly transactionId: string;
  readonly trigger: Trigger;
  readonly barcode: string | null;
}

export interface MachineState {
  readonly mode: Mode;
  readonly measuring: boolean;
  /** Null after the start and after a loss of power. */
  readonly last: LastMeasurement | null;
  readonly recording: { readonly startedAt: Date; readonly references: References } | null;
  readonly encoding: boolean;
  readonly encodingEndsAt: Date | null;
  readonly savedVideo: SavedVideo | null;
  readonly parcel: TableParcel | null;
}

/** The result of a measurement. */
export interface Measured {
  readonly measurement: Measurement;
  readonly imageIdentifier: string;
  readonly transaction: Transaction;
}

/** Why nothing was measured: the mode is Video Only, or the power was switched off. */
export type NotMeasured = "never-measures" | "switched-off";

/** The response to a video command: done, not allowed in this mode, or a status code set by an option. */
export type VideoReply = "done" | "wrong-mode" | number;

/** The buttons on the device's screen. */
export const deviceButtons = ["measure", "start", "stop", "cancel"] as const;
export type DeviceButton = (typeof deviceButtons)[number];

/** The result of a scan or of pressing a button. */
export type ScanReply =
  | "measured"
  | "recording-started"
  | "recording-stopped"
  | "recording-cancelled"
  | "nothing";

export interface Machine {
  readonly state: MachineState;
  readonly actions: Actions;
  readonly savedContent: Content | null;
  setMode(mode: Mode): void;
  setParcel(parcel: TableParcel | null): void;
  measure(references: References, trigger: Trigger, barcode?: string): Promise<Measured | NotMeasured>;
  start(references: References): VideoReply;
  stop(): VideoReply;
  cancel(): VideoReply;
  scan(barcode: string): Promise<ScanReply>;
  image(kind: ImageKind, imageIdentifier: string): Content | null;
  /** Switches the device off, which clears its memory. */
  losePower(): void;
  reset(): void;
}

/** What a simulated device works with. */
export interface MachineParts {
  readonly deviceClientId: string;
  readonly options: SimulatorOptions;
  readonly random: Random;
  readonly timers: Timers;
  readonly parcels: Parcels;
  readonly transactions: Transactions;
  readonly changed: () => void;
}
