import type { CaughtError } from "../dashboard/function-node.ts";
import type {
  ArchivedPackage,
  BillableWeight,
  MeasureResult,
  TransactionRecord,
  VideoCommand,
} from "../model/shapes.ts";
import type { Texts } from "./texts.ts";

/** A station as the variable STATIONS of the tab has it. */
export interface Place {
  /** The name of its device's config node. */
  readonly device: string;
  /** Whether the device records videos: unless it is false. */
  readonly video?: boolean;
  /** The name of the cloud's config node, if a cloud has the device's measurements. */
  readonly cloud?: string;
  /** What kind of work is done here: packing, unless it says something else. */
  readonly work?: string;
}

/** The variables of the tab. Those with numbers may be texts, because they can come from an environment variable. */
export interface StationEnv {
  readonly STATIONS: Readonly<Record<string, Place>>;
  readonly LANGUAGE: string;
  /** Whether a packer has to sign in: only if it is true. */
  readonly SIGN_IN: unknown;
  readonly BADGE: string;
  /** A badge as it may look, for people who have none in their hand yet; blank: nothing is said of it. */
  readonly BADGE_EXAMPLE: string;
  /** Whether a parcel that is packed already is asked about: unless it is false. */
  readonly ASK_IF_PACKED: unknown;
  /** The name of the Link In node that knows what is to be said of a parcel; blank: nobody is asked. */
  readonly ASK: string;
  readonly ASK_WITHIN: number | string;
  /** Whether the screens read aloud what they show large: only if it is true. */
  readonly READ_ALOUD: unknown;
  readonly IGNORE_REPEATS: number | string;
  readonly FORGOTTEN_AFTER: number | string;
  readonly ANSWER_WITHIN: number | string;
  readonly NR_FLOW_NAME: string;
  readonly NR_FLOW_ID: string;
}

/** What the two clocks of this computer say at a moment, in milliseconds. */
export interface Clocks {
  /** That of the day, which may be set at any time. */
  readonly at: number;
  /** The one that nobody sets, and from when it counts: only times of one process can be compared. */
  readonly steady: number;
  readonly origin: number;
}

/** What the flow keeps. */
export interface StationFlow {
  texts: Readonly<Record<string, Texts>> & { readonly en: Texts };
  stations: Record<string, Station>;
  /** The devices by the names of their config nodes. */
  peers: Record<string, Peer>;
  /** The clouds by the names of their config nodes. */
  clouds: Record<string, Answer>;
  /** What the messages of this flow have and those from a browser do not. */
  proof: string;
  /** At the last message. */
  clock: Clocks;
  /** The last pictures, by an ID that nobody can guess. */
  pictures: Record<string, { readonly bytes: Uint8Array; readonly contentType: string }>;
}

/** What all flows keep: the packing stations of each tab, by the ID of the tab. Example 31 shows them. */
export interface StationGlobal {
  packingStations: Record<string, PublishedTab>;
}

/**
 * While it is busy, a command is on its way to the device. In check, nobody knows whether the device has acted. Before a parcel is begun,
 * others are asked about it, and then perhaps the packer.
 */
export type Phase = BusyPhase | "asking" | "question" | "idle" | "recording" | "measured" | "check";
export type BusyPhase = "starting" | "measuring" | "cancelling";

/** A station. Each packs one parcel at a time. */
export interface Station {
  readonly name: string;
  /** Another one after each start of Node-RED, unless it keeps its context. */
  readonly boot: string;
  /** Counts the changes. */
  version: number;
  phase: Phase;
  phaseAt: number;
  lastPhase: Phase;
  /** What is gone back to if the command changes nothing. */
  before: Phase;
  /** In the phase check: what may have happened. */
  unknown: BusyPhase | null;
  /** The parcel that is being packed; null in the phases idle, asking and question. */
  parcel: Parcel | null;
  /** What was asked about a parcel that is not begun yet; only in the phases asking and question. */
  inquiry: Inquiry | null;
  /** The last parcel, while the next one has not begun. */
  shown: Parcel | null;
  /** Empty if nobody is signed in. */
  operator: string;
  /** Whether somebody has signed in: from then on, people know how a badge looks. */
  knowsBadges: boolean;
  notice: Notice | null;
  /** The last problem, for the supervisor. */
  problem: Problem | null;
  /** Counts the notices. */
  notices: number;
  /** The last parcels, the newest first. */
  history: Parcel[];
  doubts: Doubt[];
  /** The ID of the command that is on its way, and when it was sent. */
  job: string | null;
  jobAt: number;
  /** The record of the measurement that is on its way. */
  reported: TransactionRecord | null;
  recordingSince: number;
  lastScan: { readonly reference: string; readonly at: number } | null;
  /** The parcel whose label is scanned next, because it was bought after measuring. */
  labelOf: { readonly parcel: string; readonly at: number } | null;
  /** The last IDs of what the screens have sent. */
  inputs: string[];
  /** When each browser that shows the station was last heard of, by the ID of its socket. */
  clients: Record<string, number>;
  shift: Shift;
  /** Whether the chart has changed. */
  chart: boolean;
}

interface Shift {
  readonly since: number;
  /** When whoever worked has signed out; null while somebody works. */
  until: number | null;
  parcels: number;
  failures: number;
  /** By the hour in UTC, such as 2026-11-25T08. */
  readonly hours: Record<string, { parcels: number; failures: number }>;
}

interface Notice {
  readonly id: string;
  readonly kind: NoticeKind;
  /** In place of {time} in it, a screen writes `time` as its reader does. */
  readonly text: string;
  readonly time: number | null;
  /** What a packer can do about it. */
  readonly reason: string;
  readonly at: number;
}

export type NoticeKind = "good" | "error" | "info" | "question" | "stop";

/** What has gone wrong, with what a packer cannot mend: addresses, settings, and what a program has said. */
export interface Problem {
  readonly text: string;
  readonly detail: string;
  readonly at: number;
}

/** A parcel that is not begun yet: whose answers are missing, and what is known so far. */
export interface Inquiry extends Said {
  readonly id: string;
  readonly reference: string;
  waitsFor: readonly ("archive" | "system")[];
  packed: Packed | null;
  /** Who has not said anything that is understood, and why; null if both have. The system counts more. */
  unheard: { readonly who: "archive" | "system"; readonly why: string } | null;
}

/** When a parcel with the same reference was packed, or where one is being packed. */
export interface Packed {
  readonly at: number;
  readonly where: string;
}

/** What a system of the user says of a parcel, each part empty if it says nothing. */
export interface Said {
  /** What the packer should know; it is kept in the evidence. */
  note: string;
  /** A color by which the packer knows it from afar. */
  color: string;
  /** Why the parcel must not be packed. */
  stop: string;
}

/** The number of a label, and who has scanned it; empty if nobody was signed in. */
export interface Label {
  readonly number: string;
  readonly person: string;
}

export interface Parcel {
  readonly id: string;
  readonly reference: string;
  readonly operator: string;
  readonly startedAt: number;
  at: number;
  state: "packing" | "measured" | "confirmed" | "cancelled";
  /** The ID of what was asked about it before it began. */
  readonly inquiry: string;
  note: string;
  color: string;
  /** Whether it is another box of what was packed before, or is packed anew in place of it. */
  readonly repeat: "" | "box" | "again";
  /** The numbers of labels that were scanned after it was measured. */
  labels: Label[];
  /** Whether its video is recorded. */
  readonly video: boolean;
  /** The start of its recording, as the video node has reported it. */
  filmed: VideoCommand | null;
  /** Whether nobody knows if the device still records. */
  doubt: boolean;
  /** Whether a measurement that failed has ended the recording. */
  recorded: boolean;
  /** Whether it is discarded because nobody has measured it. */
  forgotten: boolean;
  /** The last measurement: the ID of its command, its figures, billable weight and picture. */
  job: string | null;
  result: Result | null;
  billable: Billed | null;
  picture: string;
  /** One for each measurement, in the order in which the device was told to measure. */
  readonly packages: EvidenceOf[];
}

/** What is kept of a measurement, for the screen and for what comes after the parcel. */
export interface Result extends Pick<
  MeasureResult,
  | "ok"
  | "length"
  | "width"
  | "height"
  | "dimsUnitOfMeasure"
  | "weight"
  | "weightUnitOfMeasure"
  | "legalForTrade"
> {
  /** As the language writes it; null if several objects were measured together. */
  readonly summary: string | null;
}

export type Measurement = MeasureResult | TransactionRecord;

/** The billable weight of a parcel, or why it has none. */
export type Billed =
  | {
      readonly problem: string;
      /** The same for a packer. */
      readonly reason: string;
    }
  | (Pick<BillableWeight, "basis" | "unit" | "weight"> & {
      /** Null if nothing was compared. */
      readonly over: boolean | null;
      /** The limits that it exceeds. */
      readonly names: readonly string[];
    });

export type EvidenceState = "waiting" | "saved" | "late" | "incomplete" | "failed";

/** The package of one measurement. Its ID is that of the command. */
export interface EvidenceOf {
  readonly id: string;
  readonly sentAt: number;
  readonly summary: string | null;
  evidence: EvidenceState;
  /** What the archive got, until the evidence is saved. */
  message: MeasuredMessage | null;
  /** Whether it was on its way to the archive when the flow was deployed. */
  isCutOff: boolean;
  /** Empty until it is saved. */
  packageId: string;
  /** The address of the package on the evidence page; empty if there is none. */
  link: string;
  /** How many of the parcel's labels were sent to it. */
  labels: number;
  holds: { readonly pictures: number; readonly videos: number } | null;
}

/** A measurement of which nobody knows whether it was made: the command, the parcel, and the cloud's record if there is one. */
export interface Doubt {
  readonly job: string;
  readonly sentAt: number;
  readonly id: string;
  readonly reference: string;
  readonly operator: string;
  readonly note: string;
  readonly color: string;
  record: TransactionRecord | null;
}

/** Whether a device or a cloud answers, in words. */
export interface Answer {
  readonly ok: boolean;
  readonly text: string;
  /** By how many seconds its clock is ahead of Node-RED's, if it has told it. */
  readonly clockAhead?: number;
}

/** A device: what is known of it, what its last check found, and when a command last did not reach it. */
export interface Peer extends Answer {
  readonly checked?: Answer;
  readonly failedAt?: number;
}

/** What each message to a node and back has, by which its answer is recognized. */
interface OfCommand {
  readonly station: string;
  readonly job: string;
  readonly sentAt: number;
  /** The parcel's ID. */
  readonly parcel: string;
  readonly proof: string;
}

/** Who did the work, of which kind it was, and what was noted of the parcel: each only if there is something to say. */
export interface Facts {
  readonly operator?: string;
  readonly work?: string;
  readonly note?: string;
}

/** A question about a parcel that is not begun yet: to the evidence node, or to the flow of the user. */
export interface Question extends OfCommand, Facts {
  readonly transactionReference: string;
  readonly payload: string;
  /** The name of the Link In node of the user's flow. */
  readonly target?: string;
}

/** Numbers that are added to a package. */
export interface Naming extends OfCommand {
  readonly payload: string;
  readonly numbers: readonly string[];
  readonly person?: string;
}

/** A picture of the evidence to be shown. */
export interface PictureFile extends OfCommand {
  readonly filename: string;
  readonly contentType: string;
}

/** A command to a device: a measurement, or the start or the end of a recording. */
export interface Command extends OfCommand, Facts {
  readonly topic: "video" | "measure";
  readonly action?: "start" | "cancel";
  readonly dock: string;
  readonly cloud?: string;
  readonly transactionReference: string;
  /** By what the cloud's record of a measurement is known. */
  readonly tag?: string;
  readonly video?: VideoCommand;
  readonly videoTaken?: true;
}

/** A measurement on its way to the archive: as the measure node has sent it, or from the cloud's record. */
export interface MeasuredMessage extends OfCommand, Facts {
  readonly payload: Measurement;
}

/** What the page has sent, after the Function node “From the page”. */
interface FromPage {
  readonly station: string | null;
  readonly _client: { readonly socketId: string };
}

export interface HelloMessage extends FromPage {
  readonly topic: "hello";
  readonly payload: {
    readonly version?: number | undefined;
    readonly boot?: string | undefined;
    readonly reference?: string | undefined;
    readonly isMade: boolean;
  };
}

export type InputMessage = Input & ({ readonly topic: "scan" } | { readonly topic: "button" });

interface Input extends FromPage {
  readonly input: string;
  readonly at: number;
  readonly payload: string;
  /** Of a scan, after the scan node: the reference, a control code, or what is wrong with it. */
  readonly transactionReference?: string;
  readonly control?: string;
  readonly error?: CaughtError;
}

export type CommandDone = Done & ({ readonly topic: "video" } | { readonly topic: "measure" });

interface Done extends MeasuredMessage {
  readonly video?: VideoCommand;
  readonly error?: CaughtError;
}

/** What has become of a measurement: its picture, its billable weight, its evidence. */
export type Followed = OfCommand & { readonly error?: CaughtError } & (
    | { readonly topic: "picture"; readonly picture?: string }
    | { readonly topic: "billed"; readonly billable?: BillableWeight }
    | { readonly topic: "late" }
    | { readonly topic: "archived"; readonly payload: ArchivedPackage }
    | { readonly topic: "named"; readonly numbers: readonly string[] }
  );

/** What was asked about a parcel is answered: by the evidence node, or by the flow of the user. */
export type Answered = OfCommand & { readonly error?: CaughtError; readonly payload: unknown } & (
    | { readonly topic: "packed" }
    /** `statusCode` is of an http request node in the flow of the user. */
    | { readonly topic: "said"; readonly statusCode?: number }
  );

export interface StatusMessage {
  readonly topic: "status";
  readonly station?: undefined;
  readonly status: {
    readonly fill?: string;
    readonly text: string;
    readonly clockAhead?: number;
    readonly source: { readonly type: string; readonly name: string };
  };
}

export interface CloudMessage {
  readonly topic: "cloud";
  readonly station?: undefined;
  readonly cloud: string;
  readonly error?: CaughtError;
}

/** What comes to the Function node “Station”. */
export type StationMessage =
  | Answered
  | CloudMessage
  | CommandDone
  | Followed
  | HelloMessage
  | InputMessage
  | StatusMessage
  | { readonly topic: "record"; readonly station?: undefined; readonly payload: TransactionRecord }
  | { readonly topic: "tick"; readonly station?: undefined };

/** What the screen shows of a parcel. */
export interface ShownParcel extends Omit<Parcel, "labels" | "packages"> {
  readonly labels: readonly string[];
  /** Of several packages, the state that needs somebody most; empty without one. */
  readonly evidence: EvidenceState | "";
  readonly packages: readonly Pick<EvidenceOf, "evidence" | "holds" | "id" | "link">[];
}

/** What a screen gets, with the texts if it is new. */
export interface ScreenState extends Pick<
  Station,
  "boot" | "inputs" | "notice" | "operator" | "phase" | "unknown" | "version"
> {
  /** The parcel about which somebody is asked before it is begun. */
  readonly asked: Pick<Inquiry, "color" | "note" | "reference"> | null;
  /** The parcel whose label is scanned next; empty if there is none. */
  readonly labelOf: string;
  /** How a badge looks, for somebody who has never signed in; empty if nothing is said of it. */
  readonly badge: string;
  readonly readsAloud: boolean;
  readonly now: number;
  readonly withSignIn: boolean;
  readonly label: string;
  readonly since: number;
  readonly parcel: ShownParcel | null;
  /** Null as long as it is not known. */
  readonly device: Answer | null;
  /** Absent if the station has none. */
  readonly cloud?: Answer | null;
  readonly shift: Pick<Shift, "failures" | "parcels" | "since" | "until">;
  readonly history: readonly ShownParcel[];
  readonly texts?: Texts;
  readonly language?: string;
}

/** What the flow tells a screen. */
export type ToScreen = {
  readonly station: string | null;
  readonly _client: { readonly socketId: string };
} & (
  | { readonly topic: "state"; readonly payload: ScreenState }
  | { readonly topic: "alive"; readonly payload: { readonly now: number } }
  | {
      readonly topic: "unknown";
      readonly payload: {
        readonly texts: Texts;
        readonly language: string;
        readonly stations: readonly string[];
      };
    }
);

/** What the supervisor's page knows of the stations of a tab. */
export interface PublishedTab {
  readonly tab: string;
  readonly at: number;
  readonly stations: readonly PublishedStation[];
}

export interface PublishedStation
  extends Pick<Station, "name" | "operator" | "phase" | "phaseAt" | "problem">, Shift {
  readonly device: string;
  readonly peer?: Peer | undefined;
  readonly doubt: boolean;
  readonly recorded: boolean;
  /** The reference of the parcel that is being packed. */
  readonly parcel: string | null;
  readonly history: readonly PublishedParcel[];
  readonly last: PublishedParcel | null;
  /** How many packages are not saved yet. */
  readonly waiting: number;
}

export interface PublishedParcel extends Pick<Parcel, "at" | "id" | "operator" | "reference" | "state"> {
  readonly evidence: EvidenceState | "";
  readonly summary: string;
}

/** A request to the flow, and the answer of the flow. */
export interface HttpMessage {
  readonly req: { readonly params: { readonly id: string } };
  statusCode?: number;
  headers?: Readonly<Record<string, string>>;
  payload?: string | Uint8Array;
}
