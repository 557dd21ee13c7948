// What the nodes report: commands that went through or failed, and what follows a measurement.
/** The outcome of a command, in words that say what to do next. */
function failed(station, error) {
  const outcome = error.cause?.outcome ?? "not-sent";
  const { parcel, phase: did } = station;
  count(station, "failures");
  if (outcome === "unknown") {
    doubted(station);
    say(station, "error", fill(t[`unknown_${did}`], parcel), error.message);
    settle(station);
    return;
  }
  station.job = null;
  if (outcome === "failed") {
    notMeasurable(station, error.message);
    return;
  }
  say(station, "error", fill(t[`nothing_${did}`], parcel), error.message);
  goBack(station, did);
}

/** The device has tried, which has ended the recording: it keeps the video for the next measurement that succeeds. */
function notMeasurable(station, detail) {
  const { parcel } = station;
  parcel.recorded = parcel.video && !parcel.result;
  say(station, "error", fill(t.failed, parcel), detail);
  goBack(station, "measuring");
}

function goBack(station, did) {
  const { parcel } = station;
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

/** A parcel has been measured. `message` is what the archive gets; it is kept until the evidence is saved. */
function adopt(station, parcel, { job, sentAt, message, result }) {
  Object.assign(parcel, { job, result, billable: null, picture: "" });
  addPackage(parcel, { job, sentAt, message, summary: result.summary });
  keep(station, parcel, parcel === station.parcel ? "measured" : parcel.state);
}

/** Each measurement has a package of its own. The cloud may report one after a later one has been made. */
function addPackage(parcel, { job, sentAt, message, summary }) {
  parcel.packages.push({ id: job, sentAt, summary, evidence: "waiting", message, files: [] });
  parcel.packages.sort((one, other) => one.sentAt - other.sentAt);
}

/** What is kept of a measurement, or of a record of one, with its figures as the language writes them. */
function resultOf(measurement) {
  const result = Object.fromEntries(resultFields.map((name) => [name, measurement[name]]));
  // Several objects have no summary.
  return { ...result, summary: measurement.summary === null ? null : summaryOf(measurement) };
}

function summaryOf({ length, width, height, dimsUnitOfMeasure, weight, weightUnitOfMeasure }) {
  const sides = [length, width, height].map((side) => (side === null ? "?" : figure(side))).join(" × ");
  const parts = [
    [sides, dimsUnitOfMeasure],
    [weight === null ? null : figure(weight), weightUnitOfMeasure],
  ];
  return parts
    .filter(([value]) => value !== null)
    .map((part) => part.filter((one) => one !== null).join(" "))
    .join(", ");
}

/** With all of its decimals. */
function figure(value) {
  return value.toLocaleString(env.get("LANGUAGE"), { maximumFractionDigits: 20, useGrouping: false });
}

function measured(station) {
  const result = resultOf(msg.payload);
  const parcel = parcelOf(station, msg.parcel);
  station.doubts = station.doubts.filter(({ job }) => job !== msg.job);
  if (parcel === undefined || parcel.packages.some(({ id }) => id === msg.job)) {
    return;
  }
  adopt(station, parcel, { job: msg.job, sentAt: msg.sentAt, message: msg, result });
  if (parcel === station.parcel) {
    station.phase = "measured";
    station.job = null;
    if (result.summary === null) {
      say(station, "error", fill(t.several, parcel));
    } else {
      say(station, "good", fill(t.measured, result));
    }
  }
}

function filmed(station) {
  if (msg.job !== station.job) {
    return;
  }
  station.job = null;
  if (station.phase === "starting") {
    station.phase = "recording";
    station.recordingSince = now;
    Object.assign(station.parcel, { doubt: false, recorded: false, filmed: msg.video });
  } else {
    const { parcel } = station;
    const forgotten = parcel.forgotten === true;
    finish(station, "cancelled");
    say(station, forgotten ? "error" : "info", fill(forgotten ? t.forgotten : t.cancelled, parcel));
  }
}

/** What comes after a measurement: its picture, its billable weight and its evidence. */
function added(station) {
  const parcel = entryOf(station, msg.parcel);
  const one = parcel?.packages.find(({ id }) => id === msg.job);
  if (one === undefined) {
    return;
  }
  // The screen shows the picture and the billable weight of the last measurement.
  const isShown = parcel.job === one.id;
  if (msg.topic === "picture") {
    parcel.picture = isShown && !msg.error ? msg.picture : parcel.picture;
  } else if (msg.topic === "billed") {
    parcel.billable = isShown ? billed() : parcel.billable;
  } else if (msg.topic === "late") {
    one.evidence = one.evidence === "saved" ? "saved" : "late";
  } else if (msg.error) {
    Object.assign(one, { evidence: "failed", message: null });
    say(station, "error", fill(t.notArchived, parcel), msg.error.message);
  } else {
    const picture = archived(one, msg.payload);
    // A measurement of which only the cloud has told has no picture from the device.
    parcel.picture = parcel.picture || (isShown ? picture : "");
  }
}

function billed() {
  const { weight, unit, basis, over, thresholds = [] } = msg.billable ?? {};
  const names = thresholds.filter((one) => one.over).map((one) => one.name);
  return msg.error ? { problem: msg.error.message } : { weight, unit, basis, over: over !== false, names };
}

/** Keeps what a package has, and returns the address of the picture to show of it. */
function archived(one, { location, files, complete }) {
  Object.assign(one, { evidence: complete ? "saved" : "incomplete", location, message: null });
  one.files = files.map(({ path, contentType, bytes, sha256 }) => ({
    path,
    contentType: contentType ?? "application/octet-stream",
    bytes,
    sha256,
  }));
  const are = (kind) => one.files.filter(({ contentType }) => contentType.startsWith(`${kind}/`));
  one.holds = { pictures: are("image").length, videos: are("video").length };
  const shown = files.find(({ description }) => /annotated/i.test(description ?? "")) ?? are("image")[0];
  const index = one.files.findIndex(({ path }) => path === shown?.path);
  return index < 0 ? "" : `evidence/${one.id}/${index}`;
}
