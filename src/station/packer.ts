import { fill } from "../dashboard/function-node.ts";
import { ask, askAgain, begin, leave } from "./begin.ts";
import { say } from "./notices.ts";
import { sendLabels } from "./results.ts";
import { command, finish, newShift, type Run } from "./state.ts";
import type { InputMessage, Inquiry, Parcel, Phase, Station } from "./types.ts";

// What the packer does: scans, badges and buttons.

const longestLabelMs = 60_000;

/** The phases in which a button does something. */
const possibleIn: ReadonlyMap<string, readonly Phase[]> = new Map<string, readonly Phase[]>([
  ["cancel", ["question", "recording", "measured", "check"]],
  ["box", ["question"]],
  ["startAgain", ["question"]],
  ["label", ["idle", "measured"]],
  ["measure", ["recording", "measured"]],
  ["again", ["check"]],
  ["confirm", ["measured"]],
]);

/** A scan, a printed code or a button. */
export function didInput(run: Run, station: Station, msg: InputMessage): void {
  if (msg.error) {
    say(run, station, "error", run.t.unreadable, { detail: msg.error.message });
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
    say(run, station, "info", fill(parcel.result ? run.t.cancelledMeasured : run.t.cancelled, parcel));
  }
}

function signIn(run: Run, station: Station, operator: string): void {
  const { parcel } = station;
  const begun = begunParcel(station);
  if (begun !== null && station.phase !== "measured") {
    say(run, station, "error", fill(run.t.finishFirst, begun));
    return;
  }
  if (parcel !== null) {
    finish(run, station, parcel, "confirmed");
  }
  leave(station);
  const leaves = station.operator === operator;
  station.operator = leaves ? "" : operator;
  station.shown = null;
  if (leaves) {
    station.shift.until = run.now;
  } else {
    station.knowsBadges = true;
    station.shift = newShift(run.now);
    station.chart = true;
  }
  say(run, station, "info", fill(leaves ? run.t.signedOut : run.t.signedIn, { operator }));
}

/** The parcel that is being packed, or that others are asked about: who has to wait for the answer does not begin another one. */
function begunParcel({ parcel, phase, inquiry }: Station): Parcel | Inquiry | null {
  return phase === "asking" ? inquiry : parcel;
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
  const { parcel, phase, inquiry } = station;
  const begun = begunParcel(station);
  const labelled = labelledParcel(run, station);
  station.labelOf = null;
  const badge = new RegExp(settings.badge).exec(reference);
  const operator = (badge?.[1] ?? badge?.[0] ?? "").trim();
  if (badge !== null && operator === "") {
    say(run, station, "error", t.unreadable);
  } else if (badge !== null) {
    signIn(run, station, operator);
  } else if (settings.withSignIn && station.operator === "") {
    say(run, station, "error", t.signInFirst);
  } else if (labelled !== undefined) {
    addLabel(run, station, labelled, reference);
  } else if (parcel === null && inquiry?.reference === reference) {
    // Nobody has to say the same twice: the answer is on its way, or the packer has to give it.
    if (phase === "question" && inquiry.packed !== null) {
      askAgain(run, station, inquiry.packed);
    }
  } else if (begun !== null && begun.reference !== reference && phase !== "measured") {
    say(run, station, "error", fill(t.mismatch, { scanned: reference, reference: begun.reference }));
  } else if (parcel === null) {
    ask(run, station, reference);
  } else if (phase === "recording") {
    measure(run, station, parcel);
  } else if (phase === "measured") {
    finish(run, station, parcel, "confirmed");
    if (parcel.reference !== reference) {
      ask(run, station, reference);
    }
  } else if (phase === "check") {
    say(run, station, "error", t.chooseFirst);
  }
}

/** The parcel whose label can be added: the one that was measured last. */
function measuredParcel({ parcel, shown }: Station): Parcel | undefined {
  return [parcel, shown].find((one) => one !== null && one.packages.length > 0) ?? undefined;
}

function isPossible(station: Station, action: string): boolean {
  const isIn = possibleIn.get(action)?.includes(station.phase) === true;
  return isIn && (action !== "label" || measuredParcel(station) !== undefined);
}

/** Whose label the next scan is: what was pressed too long ago was forgotten. */
export function labelledParcel({ now }: Run, station: Station): Parcel | undefined {
  const { labelOf } = station;
  const parcel = measuredParcel(station);
  const isMeant = labelOf !== null && labelOf.parcel === parcel?.id && now - labelOf.at < longestLabelMs;
  return isMeant ? parcel : undefined;
}

/** Adds the number of a label that was bought after measuring to all packages of the parcel, now or when they are saved. */
function addLabel(run: Run, station: Station, parcel: Parcel, number: string): void {
  const values = { number, reference: parcel.reference };
  if (number === parcel.reference || parcel.labels.some((label) => label.number === number)) {
    say(run, station, "error", fill(run.t.sameLabel, values));
    return;
  }
  parcel.labels = [...parcel.labels, { number, person: station.operator }];
  say(run, station, "info", fill(run.t.labelKept, values));
  sendLabels(run, station, parcel);
}

/** A printed code does what a button does. It is there also while the screen does not show the button. */
function printed(run: Run, station: Station, control: string): void {
  if (isRepeated(run, station, control)) {
    return;
  }
  const { t } = run;
  const { phase } = station;
  const codes = new Map([
    ["STATION_CONFIRM", phase === "question" ? ["box", t.buttonBox] : ["confirm", t.buttonConfirm]],
    [
      "STATION_AGAIN",
      phase === "check"
        ? ["again", t.buttonRetry]
        : phase === "question"
          ? ["startAgain", t.buttonStartAgain]
          : ["measure", t.buttonAgain],
    ],
    ["STATION_LABEL", ["label", t.buttonLabel]],
    ["STATION_CANCEL", ["cancel", t.buttonCancel]],
  ]);
  const [action = "", button] = codes.get(control) ?? ["", control];
  if (isPossible(station, action)) {
    pressed(run, station, action);
  } else {
    say(run, station, "error", fill(t.notNow, { button }));
  }
}

function pressed(run: Run, station: Station, action: string): void {
  const { parcel, inquiry } = station;
  const labelled = labelledParcel(run, station);
  station.labelOf = null;
  if (action === "signOut" && station.operator !== "") {
    signIn(run, station, station.operator);
  } else if (!isPossible(station, action)) {
    return;
  } else if (inquiry !== null) {
    if (action === "cancel") {
      leave(station);
      say(run, station, "info", fill(run.t.notBegun, inquiry));
    } else {
      begin(run, station, inquiry, action === "box" ? "box" : "again");
    }
  } else if (action === "label" && labelled !== undefined) {
    station.notice = null;
  } else if (action === "label") {
    const { id, reference } = measuredParcel(station) ?? {};
    station.labelOf = id === undefined ? null : { parcel: id, at: run.now };
    say(run, station, "info", fill(run.t.scanLabel, { reference }));
  } else if (parcel === null) {
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
