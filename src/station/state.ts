import type { HourCount } from "../dashboard/hours.ts";
import type { Texts } from "./texts.ts";
import type {
  Answer,
  BusyPhase,
  Command,
  Facts,
  MeasuredMessage,
  Naming,
  Parcel,
  Peer,
  PictureFile,
  Place,
  Question,
  Result,
  Station,
  ToScreen,
} from "./types.ts";

// What the stations keep, and how it changes.

/** One run of the Function node “Station” for one message: what it knows, what it may change, and what it sends. */
export interface Run {
  /** When the message came. */
  readonly now: number;
  readonly settings: Settings;
  /** The texts in the language of the flow. */
  readonly t: Texts;
  readonly stations: Record<string, Station>;
  readonly peers: Record<string, Peer>;
  readonly clouds: Record<string, Answer>;
  readonly proof: string;
  readonly newId: () => string;
  readonly clone: <TMessage>(message: TMessage) => TMessage;
  /** The stations whose screens have to show something else. */
  readonly changed: Set<Station>;
  readonly out: Out;
}

/** The variables of the tab. */
interface Settings {
  readonly places: Readonly<Record<string, Place>>;
  readonly language: string;
  readonly withSignIn: boolean;
  /** A regular expression; its first group is the operator. */
  readonly badge: string;
  readonly badgeExample: string;
  readonly asksIfPacked: boolean;
  /** The name of the Link In node that is asked about each parcel; empty: none is. */
  readonly asks: string;
  readonly askWithinMs: number;
  readonly readsAloud: boolean;
  readonly ignoreRepeatsMs: number;
  readonly forgottenAfterMs: number;
  readonly answerWithinMs: number;
}

/** The messages to be sent, by output. */
interface Out {
  readonly screen: ToScreen[];
  readonly video: Command[];
  readonly measure: Command[];
  readonly done: DoneMessage[];
  readonly chart: {
    readonly payload: readonly HourCount[];
    readonly _client: { readonly socketId: string };
  }[];
  readonly evidence: MeasuredMessage[];
  readonly find: Question[];
  readonly ask: Question[];
  readonly name: Naming[];
  readonly picture: PictureFile[];
}

/** A parcel that is confirmed or cancelled: what an ERP gets. */
interface DoneMessage {
  readonly topic: "confirmed" | "cancelled";
  readonly station: string;
  readonly operator: string;
  readonly transactionReference: string;
  readonly payload: Result | null;
  readonly billable: Parcel["billable"];
  readonly note: string;
  readonly repeat: Parcel["repeat"];
  readonly parcel: string;
}

const historyLimit = 20;

/** Whether a command is on its way. */
export function isBusy(phase: Station["phase"]): phase is BusyPhase {
  return phase === "starting" || phase === "measuring" || phase === "cancelling";
}

/** A station that STATIONS names; it begins with the first message about it. */
export function stationNamed(run: Run, name: unknown): Station | undefined {
  const { stations, settings, now } = run;
  if (typeof name !== "string" || !Object.hasOwn(settings.places, name)) {
    return undefined;
  }
  return (stations[name] ??= {
    name,
    boot: run.newId(),
    version: 0,
    phase: "idle",
    phaseAt: now,
    lastPhase: "idle",
    before: "idle",
    unknown: null,
    parcel: null,
    inquiry: null,
    shown: null,
    operator: "",
    knowsBadges: false,
    notice: null,
    problem: null,
    notices: 0,
    history: [],
    doubts: [],
    job: null,
    jobAt: 0,
    reported: null,
    recordingSince: 0,
    lastScan: null,
    labelOf: null,
    inputs: [],
    clients: {},
    shift: newShift(now),
    chart: false,
  });
}

/** Several notes as one; some may be empty. */
export function joined(...notes: readonly string[]): string {
  return notes.filter((one) => one !== "").join(" · ");
}

export function newShift(since: number): Station["shift"] {
  return { since, until: null, parcels: 0, failures: 0, hours: {} };
}

export function placeOf({ settings }: Run, { name }: Station): Place | undefined {
  return settings.places[name];
}

export function count({ now }: Run, station: Station, what: "failures" | "parcels"): void {
  const { shift } = station;
  const hour = new Date(now).toISOString().slice(0, 13);
  shift[what] += 1;
  const ofHour = (shift.hours[hour] ??= { parcels: 0, failures: 0 });
  ofHour[what] += 1;
  const old = Object.keys(shift.hours).sort().slice(0, -12);
  old.forEach((one) => delete shift.hours[one]);
  station.chart = true;
}

/** Sends a command for the parcel that is being packed. */
export function command(
  run: Run,
  station: Station,
  parcel: Parcel,
  phase: BusyPhase,
  action?: "start" | "cancel",
): void {
  const place = placeOf(run, station);
  const topic = phase === "measuring" ? "measure" : "video";
  const job = run.newId();
  // What is tried again goes back to where the first try would have.
  station.before = [phase, "check"].includes(station.phase) ? station.before : station.phase;
  Object.assign(station, { phase, job, jobAt: run.now, reported: null });
  run.out[topic].push({
    topic,
    ...(action === undefined ? {} : { action }),
    dock: place?.device ?? "",
    ...(place?.cloud ? { cloud: place.cloud } : {}),
    ...about(run, station, job, parcel.id),
    transactionReference: parcel.reference,
    ...factsOf(run, station, parcel),
    ...(topic === "measure" ? { tag: job, ...videoOf(parcel) } : {}),
  });
}

/** By what the answer to a message is recognized. */
export function about({ now, proof }: Run, { name }: Station, job: string, parcel: string) {
  return { station: name, job, sentAt: now, parcel, proof };
}

/** What the archive keeps of the work on a parcel. */
export function factsOf(
  run: Run,
  station: Station,
  { operator, note, color }: Pick<Parcel, "color" | "note" | "operator">,
): Facts {
  const { work = "" } = placeOf(run, station) ?? {};
  return {
    ...(operator === "" ? {} : { operator }),
    ...(work === "" ? {} : { work }),
    ...(note + color === "" ? {} : { note: joined(note, color) }),
  };
}

/** What a measurement has to know of the video: after a restart, no node knows any more that it was started. */
function videoOf({ result, filmed }: Parcel): Pick<Command, "video" | "videoTaken"> {
  if (result) {
    // An earlier measurement of the parcel has got it.
    return { videoTaken: true };
  }
  return filmed ? { video: filmed } : {};
}

export function entryOf(station: Station, id: string): Parcel | undefined {
  return station.history.find((one) => one.id === id);
}

/** Puts a parcel into the list of the last ones. */
export function keep(run: Run, station: Station, parcel: Parcel, state: Parcel["state"]): void {
  if (entryOf(station, parcel.id) === undefined) {
    station.history.unshift(parcel);
    station.history.length = Math.min(station.history.length, historyLimit);
  }
  Object.assign(parcel, { state, at: run.now });
}

/** Whether it was packed anew in place of one that this shift has counted. */
function isCounted({ history, shift }: Station, { id, reference, repeat }: Parcel): boolean {
  const isSame = (one: Parcel): boolean =>
    one.id !== id && one.reference === reference && one.state === "confirmed" && one.at >= shift.since;
  return repeat === "again" && history.some(isSame);
}

/** Ends the work on a parcel: the next one may begin. */
export function finish(run: Run, station: Station, parcel: Parcel, state: "confirmed" | "cancelled"): void {
  keep(run, station, parcel, state);
  if (state === "confirmed" && !isCounted(station, parcel)) {
    count(run, station, "parcels");
  }
  run.out.done.push({
    topic: state,
    station: station.name,
    operator: station.operator,
    transactionReference: parcel.reference,
    payload: parcel.result,
    billable: parcel.billable,
    note: parcel.note,
    repeat: parcel.repeat,
    parcel: parcel.id,
  });
  Object.assign(station, { parcel: null, phase: "idle", shown: parcel });
}
