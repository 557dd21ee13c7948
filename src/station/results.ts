import { fill, type CaughtError } from "../dashboard/function-node.ts";
import type { ArchivedPackage, BillableWeight, TransactionRecord } from "../model/shapes.ts";
import { leaveInDoubt, reasonOf, say } from "./notices.ts";
import { about, count, entryOf, factsOf, finish, keep, placeOf, type Run } from "./state.ts";
import type {
  Billed,
  BusyPhase,
  CommandDone,
  Doubt,
  EvidenceOf,
  Followed,
  MeasuredMessage,
  Measurement,
  Parcel,
  Result,
  Station,
} from "./types.ts";

// What the nodes report: commands that went through or failed, and what follows a measurement.

/** The outcome of a command that failed, in words that say what to do next. */
export function failed(run: Run, station: Station, did: BusyPhase, error: CaughtError, reason = ""): void {
  const { t } = run;
  const { parcel } = station;
  if (parcel === null) {
    return;
  }
  const outcome = error.cause?.outcome ?? "not-sent";
  count(run, station, "failures");
  if (outcome === "unknown") {
    leaveInDoubt(station, parcel, did);
    say(run, station, "error", fill(t[`unknown_${did}`], parcel), { detail: error.message });
    settle(run, station);
    return;
  }
  station.job = null;
  if (outcome === "failed") {
    notMeasurable(run, station, parcel, reason, error.message);
    return;
  }
  say(run, station, "error", fill(t[`nothing_${did}`], parcel), reasonOf(t, error));
  goBack(station, parcel, did);
}

/** The device has tried, which has ended the recording: it keeps the video for the next measurement that succeeds. */
function notMeasurable(run: Run, station: Station, parcel: Parcel, reason: string, detail = reason): void {
  parcel.recorded = parcel.video && !parcel.result;
  say(run, station, "error", fill(run.t.failed, parcel), { reason, detail });
  goBack(station, parcel, "measuring");
}

function goBack(station: Station, parcel: Parcel, did: BusyPhase): void {
  if (did === "cancelling" && station.before === "idle") {
    // Nobody knows yet whether its video was started.
    Object.assign(station, { phase: "check", unknown: "starting" });
    return;
  }
  station.phase =
    did === "starting" || (did === "measuring" && !parcel.video && !parcel.result) ? "idle" : station.before;
  if (station.phase === "idle") {
    station.parcel = null;
  }
}

/** A start or the end of a recording went through. */
export function filmed(run: Run, station: Station, msg: CommandDone): void {
  const { parcel } = station;
  if (msg.job !== station.job || parcel === null) {
    return;
  }
  station.job = null;
  if (station.phase === "starting") {
    Object.assign(station, { phase: "recording", recordingSince: run.now });
    Object.assign(parcel, { doubt: false, recorded: false, filmed: msg.video ?? null });
  } else {
    const { forgotten } = parcel;
    finish(run, station, parcel, "cancelled");
    say(
      run,
      station,
      forgotten ? "error" : "info",
      fill(forgotten ? run.t.forgotten : run.t.cancelledRecording, parcel),
    );
  }
}

export function measured(run: Run, station: Station, msg: CommandDone): void {
  const { t } = run;
  const result = resultOf(run, msg.payload);
  const parcel = parcelOf(station, msg.parcel);
  station.doubts = station.doubts.filter(({ job }) => job !== msg.job);
  if (parcel === undefined || parcel.packages.some(({ id }) => id === msg.job)) {
    return;
  }
  adopt(run, station, parcel, msg, result);
  if (parcel === station.parcel) {
    Object.assign(station, { phase: "measured", job: null });
    if (result.summary === null) {
      say(run, station, "error", fill(t.several, parcel));
    } else {
      say(run, station, "good", fill(t.measured, result));
    }
  }
}

function parcelOf(station: Station, id: string): Parcel | undefined {
  return station.parcel?.id === id ? station.parcel : entryOf(station, id);
}

/** A parcel has been measured. `message` is what the archive gets; it is kept until the evidence is saved. */
function adopt(run: Run, station: Station, parcel: Parcel, message: MeasuredMessage, result: Result): void {
  Object.assign(parcel, { job: message.job, result, billable: null, picture: "" });
  addPackage(parcel, message, result.summary);
  keep(run, station, parcel, parcel === station.parcel ? "measured" : parcel.state);
}

/** Each measurement has a package of its own. The cloud may report one after a later one has been made. */
function addPackage(parcel: Parcel, message: MeasuredMessage, summary: string | null): void {
  parcel.packages.push({
    id: message.job,
    sentAt: message.sentAt,
    summary,
    evidence: "waiting",
    message,
    isCutOff: false,
    packageId: "",
    link: "",
    labels: 0,
    holds: null,
  });
  parcel.packages.sort((one, other) => one.sentAt - other.sentAt);
}

/** What is kept of a measurement, or of a record of one, with its figures as the language writes them. */
function resultOf({ settings }: Run, measurement: Measurement): Result {
  const { ok, length, width, height, dimsUnitOfMeasure, weight, weightUnitOfMeasure } = measurement;
  const legalForTrade = measurement["legalForTrade"];
  /** With all of its decimals. */
  const figure = (value: number): string =>
    value.toLocaleString(settings.language, { maximumFractionDigits: 20, useGrouping: false });
  const sides = [length, width, height].map((side) => (side === null ? "?" : figure(side))).join(" × ");
  const parts = [
    [sides, dimsUnitOfMeasure],
    ...(weight === null ? [] : [[figure(weight), weightUnitOfMeasure]]),
  ];
  const summary = parts.map((part) => part.filter((one) => one !== null).join(" ")).join(", ");
  return {
    ok,
    // Several objects have no summary.
    summary: measurement["summary"] === null ? null : summary,
    length,
    width,
    height,
    dimsUnitOfMeasure,
    weight,
    weightUnitOfMeasure,
    legalForTrade: typeof legalForTrade === "boolean" ? legalForTrade : null,
  };
}

/** What comes after a measurement: its picture, its billable weight and its evidence. */
export function followed(run: Run, station: Station, msg: Followed): void {
  const parcel = entryOf(station, msg.parcel);
  const one = parcel?.packages.find(({ id }) => id === msg.job);
  if (parcel === undefined || one === undefined) {
    return;
  }
  // The screen shows the picture and the billable weight of the last measurement.
  const isShown = parcel.job === one.id;
  if (msg.topic === "picture") {
    parcel.picture = isShown && !msg.error ? (msg.picture ?? "") : parcel.picture;
  } else if (msg.topic === "billed") {
    parcel.billable = isShown ? billed(run, msg) : parcel.billable;
    if (msg.error) {
      const text = `${run.t.notBillable}: ${parcel.reference}`;
      station.problem = { text, detail: msg.error.message, at: run.now };
    }
  } else if (msg.topic === "late") {
    one.evidence = one.evidence === "saved" ? "saved" : "late";
  } else if (msg.topic === "named") {
    named(run, station, parcel, msg);
  } else if (msg.error) {
    Object.assign(one, { evidence: "failed", message: null });
    say(run, station, "error", fill(run.t.notArchived, parcel), { detail: msg.error.message });
  } else {
    const picture = archived(one, msg.payload);
    // A measurement of which only the cloud has told has no picture from the device.
    if (picture !== undefined && parcel.picture === "" && isShown) {
      const { path: filename, contentType } = picture;
      const of = about(run, station, one.id, parcel.id);
      run.out.picture.push({ ...of, filename, contentType: contentType ?? "application/octet-stream" });
    }
    sendLabels(run, station, parcel);
  }
}

function billed(
  { t }: Run,
  { error, billable }: { error?: CaughtError; billable?: BillableWeight },
): Billed | null {
  if (error) {
    const reason = error.code === "ERR_NOT_BILLABLE" ? t.whyNotBillable : t.whySupervisor;
    return { problem: error.message, reason };
  }
  if (billable === undefined) {
    return null;
  }
  const { weight, unit, basis, over, thresholds } = billable;
  const names = thresholds.filter((one) => one.over).map((one) => one.name);
  return { weight, unit, basis, over: thresholds.length === 0 ? null : over !== false, names };
}

/** Keeps what a package has, and returns the file of the picture to show of it. */
function archived(one: EvidenceOf, payload: ArchivedPackage): ArchivedPackage["files"][number] | undefined {
  const { packageId, link, files, complete } = payload;
  Object.assign(one, {
    evidence: complete ? "saved" : "incomplete",
    message: null,
    packageId,
    link: link ?? "",
  });
  const are = (kind: string) =>
    files.filter(({ contentType }) => contentType?.startsWith(`${kind}/`) === true);
  const pictures = are("image");
  one.holds = { pictures: pictures.length, videos: are("video").length };
  return pictures.find(({ description }) => /annotated/i.test(description ?? "")) ?? pictures[0];
}

/** Adds the labels of a parcel to each of its packages that is saved and does not have them. */
export function sendLabels(run: Run, station: Station, parcel: Parcel): void {
  for (const one of parcel.packages) {
    const labels = one.packageId === "" ? [] : parcel.labels.slice(one.labels);
    one.labels += labels.length;
    // Whoever is signed in by now may be somebody else.
    for (const who of new Set(labels.map(({ person }) => person))) {
      const numbers = labels.filter(({ person }) => person === who).map(({ number }) => number);
      const of = about(run, station, one.id, parcel.id);
      run.out.name.push({ ...of, payload: one.packageId, numbers, ...(who === "" ? {} : { person: who }) });
    }
  }
}

function named(
  run: Run,
  station: Station,
  parcel: Parcel,
  { error, numbers }: Extract<Followed, { readonly topic: "named" }>,
): void {
  const values = { number: numbers.join(", "), reference: parcel.reference };
  if (error === undefined) {
    say(run, station, "good", fill(run.t.labelAdded, values));
    return;
  }
  parcel.labels = parcel.labels.filter(({ number }) => !numbers.includes(number));
  parcel.packages.forEach((one) => {
    one.labels = Math.min(one.labels, parcel.labels.length);
  });
  say(run, station, "error", fill(run.t.labelNotAdded, values), reasonOf(run.t, error));
}

// Measurements of which nobody knows whether they were made, and what a deploy has cut off. A device cannot be asked what it
// has done, but the cloud reports each measurement, with the ID of its command as the tag.

/** The record of a measurement may come before its answer, or when the answer did not come. */
export function reported(run: Run, record: TransactionRecord): void {
  const job = record.customReference1;
  for (const station of Object.values(run.stations)) {
    const doubt = station.doubts.find((one) => one.job === job);
    if (doubt !== undefined) {
      doubt.record = record;
      settle(run, station);
    } else if (station.phase === "measuring" && station.job === job) {
      station.reported = record;
    }
  }
}

/** Ends the doubts of which there is a record. */
export function settle(run: Run, station: Station): void {
  const known = station.doubts.filter(({ record }) => record !== null);
  station.doubts = station.doubts.filter(({ record }) => record === null);
  known.forEach((doubt) => learn(run, station, doubt));
}

function learn(run: Run, station: Station, doubt: Doubt): void {
  const { job, sentAt, id, reference, record } = doubt;
  const { t, proof, changed, out } = run;
  const parcel = parcelOf(station, id);
  const isAsked =
    parcel !== undefined &&
    parcel === station.parcel &&
    station.phase === "check" &&
    station.unknown === "measuring";
  changed.add(station);
  if (!record?.ok) {
    if (isAsked) {
      notMeasurable(run, station, parcel, record?.errorMessage ?? "");
    }
    return;
  }
  const { device, cloud } = placeOf(run, station) ?? {};
  const message = {
    station: station.name,
    transactionId: record.transactionId,
    transactionReference: reference,
    ...factsOf(run, station, doubt),
    tag: job,
    payload: record,
    parcel: id,
    job,
    proof,
    device,
    ...(cloud ? { cloud } : {}),
    sentAt,
    // The first measurement has got the video.
    ...(parcel?.filmed && !parcel.packages.some((one) => one.sentAt < sentAt)
      ? { video: parcel.filmed }
      : {}),
  };
  out.evidence.push(run.clone(message));
  if (parcel === undefined) {
    return;
  }
  const result = resultOf(run, record);
  if (!isAsked && parcel.result) {
    // It was measured again meanwhile, which is what the screen shows.
    addPackage(parcel, message, result.summary);
    return;
  }
  adopt(run, station, parcel, message, result);
  if (isAsked) {
    station.phase = "measured";
    say(run, station, "good", fill(t.measuredAfterAll, { reference, summary: result.summary }));
  } else if (parcel === station.parcel) {
    station.before = "measured";
  }
}

/** What was on its way to the archive when the flow was deployed goes there again: it archives nothing twice. */
export function sendAgain(run: Run, station: Station): void {
  for (const one of station.history.flatMap((parcel) => parcel.packages)) {
    if (one.isCutOff && one.message !== null) {
      run.out.evidence.push(run.clone(one.message));
    }
    one.isCutOff = false;
  }
}
