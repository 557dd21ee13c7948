import { fill } from "../dashboard/function-node.ts";
import { usualWork } from "../rules/works.ts";
import { say } from "./notices.ts";
import { about, command, factsOf, joined, newShift, placeOf, type Run } from "./state.ts";
import type { Answered, Inquiry, Packed, Parcel, Said, Station } from "./types.ts";

// From the first scan of a parcel to its first command: the archive is asked whether it was packed before, and the user's system what
// is to be said of it, both within a deadline. Then the packer may be asked.

/** A shift ends by itself when nobody has begun a parcel for so long: somebody has gone home without signing out. */
const longestPauseMs = 4 * 3_600_000;
const longestNote = 500;
const isColor = /^(?:#[\da-f]{3}|#[\da-f]{6}|[a-z]{1,30})$/i;
/** What a web server says in place of an answer. */
const isPage = /^<(?:!doctype|!--|html|head|body|\?xml)/i;
/** How JSON begins, and no sentence: one that was cut off is no note. */
const isJson = /^[[{]\s*["{]/;
/** What systems say in place of no and of yes. */
const isNo = /^(?:0|false|no|n)$/i;
const isYes = /^(?:1|true|yes|y)$/i;

export function ask(run: Run, station: Station, reference: string): void {
  const { settings, out } = run;
  const { work = usualWork } = placeOf(run, station) ?? {};
  const mayBePacked = settings.asksIfPacked && work === usualWork;
  const packed = mayBePacked ? packedHere(run, station, reference) : null;
  const inquiry: Inquiry = {
    id: run.newId(),
    reference,
    waitsFor: [
      ...(mayBePacked && packed === null ? (["archive"] as const) : []),
      ...(settings.asks === "" ? [] : (["system"] as const)),
    ],
    packed,
    unheard: null,
    note: "",
    color: "",
    stop: "",
  };
  Object.assign(station, { inquiry, shown: null, notice: null, phase: "asking", jobAt: run.now });
  const question = {
    ...about(run, station, inquiry.id, inquiry.id),
    ...factsOf(run, station, { operator: station.operator, note: "", color: "" }),
    transactionReference: reference,
    payload: reference,
  };
  for (const who of inquiry.waitsFor) {
    if (who === "archive") {
      out.find.push(question);
    } else {
      out.ask.push({ ...question, target: settings.asks });
    }
  }
  decide(run, station);
}

/** What the stations themselves know: the archive has a package only when all of its media are there. */
function packedHere({ stations, settings }: Run, station: Station, reference: string): Packed | null {
  const all = Object.values(stations);
  const other = all.find((one) => one !== station && one.parcel?.reference === reference);
  if (other?.parcel) {
    const where = settings.places[other.name]?.device ?? other.name;
    return { at: other.parcel.startedAt, where };
  }
  const [last] = all
    .flatMap(({ history }) => history)
    .filter((one) => one.reference === reference && (one.state === "measured" || one.state === "confirmed"))
    .toSorted((one, next) => next.at - one.at);
  return last === undefined ? null : { at: last.at, where: "" };
}

export function answered(run: Run, station: Station, msg: Answered): void {
  const { inquiry, parcel } = station;
  if (parcel !== null && parcel.inquiry === msg.job) {
    heardLate(run, station, parcel, msg);
    return;
  }
  if (inquiry === null || inquiry.id !== msg.job || station.phase !== "asking") {
    return;
  }
  const { error, payload, topic } = msg;
  const who = topic === "packed" ? "archive" : "system";
  inquiry.waitsFor = inquiry.waitsFor.filter((one) => one !== who);
  const said = readSaid(run, msg);
  if (error !== undefined) {
    notHeard(inquiry, who, error.message);
  } else if (topic === "packed") {
    inquiry.packed ??= packedBefore(run, payload);
  } else if (said === undefined) {
    notHeard(inquiry, who, run.t.systemUnclear);
  } else {
    Object.assign(inquiry, said);
  }
  decide(run, station);
}

function notHeard(inquiry: Inquiry, who: "archive" | "system", why: string): void {
  inquiry.unheard = who === "system" ? { who, why } : (inquiry.unheard ?? { who, why });
}

/** An answer that comes after the deadline is still better than none, most of all if it says stop. */
function heardLate(run: Run, station: Station, parcel: Parcel, msg: Answered): void {
  const said = msg.topic === "said" && msg.error === undefined ? readSaid(run, msg) : undefined;
  if (said === undefined) {
    return;
  }
  const { note, color, stop } = said;
  // The next scan takes the notice away: the note stays for as long as the parcel is packed, and is kept in the evidence.
  parcel.note = joined(stop === "" ? "" : `${run.t.stop}: ${stop}`, note, parcel.note);
  parcel.color = color || parcel.color;
  if (stop !== "") {
    say(run, station, "stop", `${parcel.reference}: ${stop}`, { reason: fill(run.t.stopLate, parcel) });
  }
}

/** The newest package that the archive has found, but for those of parcels that were cancelled here. */
function packedBefore({ stations }: Run, payload: unknown): Packed | null {
  const cancelled = new Set<unknown>(
    Object.values(stations)
      .flatMap(({ history }) => history)
      .filter(({ state }) => state === "cancelled")
      .flatMap(({ packages }) => packages.map(({ packageId }) => packageId)),
  );
  const found: readonly unknown[] = Array.isArray(payload) ? payload : [];
  const times = found
    .map(fieldsOf)
    .filter(({ packageId, work }) => work === usualWork && !cancelled.has(packageId))
    .map(({ archivedAtUtc }) => Date.parse(textOf(archivedAtUtc)));
  const at = Math.max(...times.filter((time) => !Number.isNaN(time)));
  return Number.isFinite(at) ? { at, where: "" } : null;
}

/**
 * What the user's flow has answered: a note as a text, or an object with note, color and stop, also in a list, as database nodes
 * give rows, or as the text of its JSON, as an http request node gives it; undefined if it is something else. With a status that says
 * that the request has failed, which such a node leaves on the message, only what is meant for the station counts.
 */
function readSaid(
  { t }: Run,
  { payload, statusCode = 0 }: { readonly payload?: unknown; readonly statusCode?: number },
): Said | undefined {
  const isFailed = statusCode >= 400;
  const answer = typeof payload === "string" ? fromJson(payload.trim()) : (payload ?? "");
  if (typeof answer === "string") {
    const isSentence = !isPage.test(answer) && !isJson.test(answer) && !isFailed;
    return isSentence ? { note: textOf(answer), color: "", stop: "" } : undefined;
  }
  const list: readonly unknown[] = Array.isArray(answer) ? answer : [answer];
  const rows = list.map(fieldsOf);
  const isSaid = (row: object): boolean => "note" in row || "color" in row || "stop" in row;
  const isOther = rows.some((row) => !isEmpty(row) && !isSaid(row)) || (isFailed && !rows.some(isSaid));
  if (list.some((one) => typeof one !== "object") || isOther) {
    return undefined;
  }
  const said = rows.map(({ note, stop }) => {
    const noted = textOf(typeof note === "number" ? String(note) : note);
    const reason = textOf(stop);
    if (!stop || isNo.test(reason)) {
      return { note: noted, stop: "" };
    }
    // Whoever says only that it stops has the reason in the note.
    return reason === "" || isYes.test(reason)
      ? { note: "", stop: noted || t.stopWithoutReason }
      : { note: noted, stop: reason };
  });
  return {
    note: joined(...new Set(said.map(({ note }) => note))).slice(0, longestNote),
    color: rows.map(({ color }) => textOf(color)).find((color) => isColor.test(color)) ?? "",
    stop: joined(...new Set(said.map(({ stop }) => stop))).slice(0, longestNote),
  };
}

function fromJson(text: string): unknown {
  try {
    return /^(?:[[{]|null$)/.test(text) ? (JSON.parse(text) ?? "") : text;
  } catch {
    return text;
  }
}

function isEmpty(row: object): boolean {
  return Object.keys(row).length === 0;
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value.trim().slice(0, longestNote) : "";
}

/** What becomes of a parcel once everybody has answered who was asked, or the deadline is over. */
export function decide(run: Run, station: Station): void {
  const { now, settings, t } = run;
  const { inquiry, phase, jobAt } = station;
  const isWaiting = inquiry !== null && inquiry.waitsFor.length > 0 && now - jobAt < settings.askWithinMs;
  if (inquiry === null || phase !== "asking" || isWaiting) {
    return;
  }
  for (const who of inquiry.waitsFor) {
    notHeard(inquiry, who, who === "system" ? t.systemLate : t.archiveLate);
  }
  inquiry.waitsFor = [];
  run.changed.add(station);
  if (inquiry.stop !== "") {
    leave(station);
    say(run, station, "stop", `${inquiry.reference}: ${inquiry.stop}`, { reason: t.putAside });
  } else if (inquiry.packed !== null) {
    station.phase = "question";
    askAgain(run, station, inquiry.packed);
  } else {
    begin(run, station, inquiry, "");
  }
}

/** Asks the packer whether a parcel that is packed already is to be packed. */
export function askAgain(run: Run, station: Station, { at, where }: Packed): void {
  const { t, now } = run;
  const isToday = new Date(at).toDateString() === new Date(now).toDateString();
  const text = where === "" ? (isToday ? t.packedAt : t.packedOn) : t.packedNow;
  // The time stays to be written by the screen, whose reader may be in another time zone.
  const values = { reference: station.inquiry?.reference, where, time: "{time}" };
  say(run, station, "question", fill(text, values), { time: at });
}

/** Gives up a parcel before it has begun. */
export function leave(station: Station): void {
  Object.assign(station, { inquiry: null, phase: "idle", notice: null });
}

/** Begins a parcel with what was said of it. */
export function begin(run: Run, station: Station, inquiry: Inquiry, repeat: Parcel["repeat"]): void {
  const { now, t } = run;
  const { reference, color, unheard } = inquiry;
  const repeated = { "": "", box: t.anotherBox, again: t.packedAgain }[repeat];
  const withVideo = placeOf(run, station)?.video !== false;
  const parcel: Parcel = {
    id: run.newId(),
    inquiry: inquiry.id,
    reference,
    operator: station.operator,
    startedAt: now,
    at: now,
    state: "packing",
    note: joined(inquiry.note, repeated),
    color,
    repeat,
    labels: [],
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
  const lastAt = Math.max(station.shift.since, ...station.history.map(({ at }) => at));
  if (now - lastAt > longestPauseMs) {
    station.shift = newShift(now);
    station.chart = true;
  }
  Object.assign(station, { parcel, inquiry: null, shown: null, notice: null, phase: "idle" });
  if (unheard !== null) {
    const { who, why: detail } = unheard;
    const text = fill(who === "system" ? t.notAsked : t.notLookedUp, parcel);
    say(run, station, "error", text, { reason: t.whySupervisor, detail });
  }
  if (withVideo) {
    command(run, station, parcel, "starting", "start");
  } else {
    command(run, station, parcel, "measuring");
  }
}
