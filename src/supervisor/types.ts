import type { FleetDevice, StoreState } from "../model/shapes.ts";
import type { PublishedParcel, PublishedStation, StationGlobal } from "../station/types.ts";
import type { Texts } from "./texts.ts";

/** The variables of the tab. Those with numbers may be texts, because they can come from an environment variable. */
export interface SupervisorEnv {
  readonly LANGUAGE: string;
  readonly OLDEST_JOB: number | string;
  readonly FREE_SPACE: number | string;
  readonly SILENT_AFTER: number | string;
  readonly STOPPED_AFTER: number | string;
  readonly CLOCKS_APART: number | string;
}

/** What the flow keeps. */
export interface SupervisorFlow {
  texts: Readonly<Record<string, Texts>> & { readonly en: Texts };
  supervisor: Kept;
}

export type SupervisorGlobal = StationGlobal;

/** What the Function node “Supervisor” keeps. */
export interface SupervisorNode {
  /** What it has sent last, as text, by the name of the receiver. */
  sent: Record<string, string>;
  /** How many answers about the store have come since the start; only the first ones are counted. */
  answers: number;
}

export interface Kept {
  /** By their causes. */
  alarms: Record<string, Alarm>;
  /** The last alarms that have ended. */
  log: Alarm[];
  /** Null as long as nothing is known. */
  store: StoreState | Problem | null;
  fleet:
    | {
        readonly devices: readonly FleetDevice[];
        /** By how many seconds the cloud's clock is ahead of this computer's; null if it is not known. */
        readonly clockAhead: number | null;
      }
    | Problem
    | null;
}

/** Why something cannot be told. */
export interface Problem {
  readonly problem: string;
}

export interface Alarm {
  readonly id: string;
  readonly key: string;
  text: string;
  readonly since: number;
  /** Who has acknowledged it; empty as long as nobody has. */
  by: string;
  /** When it was acknowledged. */
  at: number | null;
  /** When its cause was over. */
  over: number | null;
}

/** A station, and whether its flow runs. */
export interface Dock extends PublishedStation {
  /** What people call it: its device, and its own name where that has another one as well. */
  readonly label: string;
  readonly tab: string;
  readonly runs: boolean;
}

/** What the page shows of a dock. */
export interface ShownDock extends Pick<
  Dock,
  "device" | "failures" | "label" | "name" | "operator" | "parcels" | "peer" | "problem" | "waiting"
> {
  readonly phase: PublishedStation["phase"] | "stopped";
  /** The phase in words. */
  readonly state: string;
  readonly parcel: string;
  /** How far the clock of its device is from this computer's. */
  readonly clock: string;
  /** Parcels an hour since somebody signed in; null in the first minute. */
  readonly rate: number | null;
  readonly last: PublishedParcel | null;
}

/** What the page gets. */
export interface PageState {
  readonly now: number;
  readonly texts: Texts;
  readonly language: string;
  readonly docks: readonly ShownDock[];
  readonly store: Kept["store"];
  /** The names of the silent devices of the cloud; null if they are not known. */
  readonly silent: readonly (string | null)[] | null;
  /** How far the clock of the cloud is from this computer's. */
  readonly cloudClock: string;
  readonly alarms: readonly Alarm[];
  readonly log: readonly Alarm[];
}

export interface AcknowledgeMessage {
  readonly topic: "acknowledge";
  readonly error?: undefined;
  readonly payload: { readonly id: string; readonly name: string };
}
