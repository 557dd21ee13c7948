import { fill } from "../dashboard/function-node.ts";
import { say } from "./notices.ts";
import { command, finish, placeOf, type Run } from "./state.ts";
import type { InputMessage, Parcel, Phase, Station } from "./types.ts";

// What the packer does: scans, badges and buttons.

/** The phases in which a button does something. */
const possibleIn: ReadonlyMap<string, readonly Phase[]> = new Map<string, readonly Phase[]>([
  ["cancel", ["recording", "measured", "check"]],
  ["measure", ["recording", "measured"]],
  ["again", ["check"]],
  ["confirm", ["measured"]],
]);

/** A scan, a printed code or a button. */
export function didInput(run: Run, station: Station, msg: InputMessage): void {
  if (msg.error) {
    say(run, station, "error", run.t.unreadable, msg.error.message);
  } else if (msg.control === "NO_READ") {
    // Not even the time of the last scan changes: the label that follows is not a repeated one.
    say(run, station, "error", run.t.nothingRead);
  } else if (msg.control) {
    printed(run, station, msg.control);
  } else if (msg.topic === "scan") {
    scanned(run, station, msg.transactionReference ?? "");
  } else {
    pressed(run, station, msg.payload);
  }
}

function begin(run: Run, station: Station, reference: string): void {
  const withVideo = placeOf(run, station)?.video !== false;
  const parcel: Parcel = {
    id: run.newId(),
    reference,
    operator: station.operator,
    startedAt: run.now,
    at: run.now,
    state: "packing",
    video: withVideo,
    filmed: null,
    doubt: false,
    recorded: false,
    forgotten: false,
    job: null,
    result: null,
    billable: null,
    picture: "",
    packages: [],
  };
  Object.assign(station, { parcel, shown: null, notice: null, phase: "idle" });
  if (withVideo) {
    command(run, station, parcel, "starting", "start");
  } else {
    command(run, station, parcel, "measuring");
  }
}

function measure(run: Run, station: Station, parcel: Parcel): void {
  station.notice = null;
  command(run, station, parcel, "measuring");
}

/** Discards what was recorded, where something was; else the parcel is cancelled at once. */
export function cancel(run: Run, station: Station, parcel: Parcel, forgotten = false): void {
  station.notice = null;
  parcel.forgotten = forgotten;
  if (parcel.video && !parcel.result) {
    command(run, station, parcel, "cancelling", "cancel");
  } else {
    finish(run, station, parcel, "cancelled");
    say(run, station, "info", fill(run.t.cancelled, parcel));
  }
}

function signIn(run: Run, station: Station, operator: string): void {
  const { parcel } = station;
  if (parcel !== null && station.phase !== "measured") {
    say(run, station, "error", fill(run.t.finishFirst, parcel));
    return;
  }
  if (parcel !== null) {
    finish(run, station, parcel, "confirmed");
  }
  const leaves = station.operator === operator;
  station.operator = leaves ? "" : operator;
  station.shown = null;
  if (!leaves) {
    station.shift = { since: run.now, parcels: 0, failures: 0, hours: {} };
    station.chart = true;
  }
  say(run, station, "info", fill(leaves ? run.t.signedOut : run.t.signedIn, { operator }));
}

/** Scanners sometimes send a code twice. */
function isRepeated({ now, settings }: Run, station: Station, code: string): boolean {
  const last = station.lastScan;
  station.lastScan = { reference: code, at: now };
  return last?.reference === code && Math.abs(now - last.at) < settings.ignoreRepeatsMs;
}

function scanned(run: Run, station: Station, reference: string): void {
  if (isRepeated(run, station, reference)) {
    return;
  }
  const { settings, t } = run;
  const { parcel, phase } = station;
  const badge = new RegExp(settings.badge).exec(reference);
  if (badge !== null) {
    signIn(run, station, badge[1] ?? badge[0]);
  } else if (settings.withSignIn && station.operator === "") {
    say(run, station, "error", t.signInFirst);
  } else if (parcel === null) {
    begin(run, station, reference);
  } else if (parcel.reference !== reference && phase !== "measured") {
    say(run, station, "error", fill(t.mismatch, { scanned: reference, reference: parcel.reference }));
  } else if (phase === "recording") {
    measure(run, station, parcel);
  } else if (phase === "measured") {
    finish(run, station, parcel, "confirmed");
    if (parcel.reference !== reference) {
      begin(run, station, reference);
    }
  } else if (phase === "check") {
    say(run, station, "error", t.chooseFirst);
  }
}

/** A printed code does what a button does. It is there also while the screen does not show the button. */
function printed(run: Run, station: Station, control: string): void {
  if (isRepeated(run, station, control)) {
    return;
  }
  const { t } = run;
  const { phase } = station;
  const codes = new Map([
    ["STATION_CONFIRM", ["confirm", t.buttonConfirm]],
    ["STATION_AGAIN", phase === "check" ? ["again", t.buttonRetry] : ["measure", t.buttonAgain]],
    ["STATION_CANCEL", ["cancel", t.buttonCancel]],
  ]);
  const [action = "", button] = codes.get(control) ?? ["", control];
  if (possibleIn.get(action)?.includes(phase)) {
    pressed(run, station, action);
  } else {
    say(run, station, "error", fill(t.notNow, { button }));
  }
}

function pressed(run: Run, station: Station, action: string): void {
  const { parcel } = station;
  if (action === "signOut" && station.operator !== "") {
    signIn(run, station, station.operator);
  } else if (parcel === null || !possibleIn.get(action)?.includes(station.phase)) {
    return;
  } else if (action === "cancel" || (action === "again" && station.unknown === "cancelling")) {
    cancel(run, station, parcel);
  } else if (action === "again" && station.unknown === "starting") {
    station.notice = null;
    command(run, station, parcel, "starting", "start");
  } else if (action === "measure" || action === "again") {
    measure(run, station, parcel);
  } else {
    finish(run, station, parcel, "confirmed");
  }
}
