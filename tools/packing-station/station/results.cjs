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
  station.phase =
    did === "starting" || (did === "measuring" && !parcel.video && !parcel.result) ? "idle" : station.before;
  if (station.phase === "idle") {
    station.parcel = null;
  }
}

/** A parcel has been measured. `message` is what the archive gets; it is kept until the evidence is saved. */
function adopt(station, parcel, { job, message, result }) {
  Object.assign(parcel, {
    job,
    message,
    result,
    billable: null,
    picture: "",
    evidence: "waiting",
    files: [],
  });
  parcel.measurements = (parcel.measurements ?? 0) + 1;
  keep(station, parcel, parcel === station.parcel ? "measured" : parcel.state);
}

function measured(station) {
  const result = Object.fromEntries(resultFields.map((name) => [name, msg.payload[name]]));
  const parcel = parcelOf(station, msg.parcel);
  station.doubts = station.doubts.filter(({ job }) => job !== msg.job);
  if (parcel === undefined) {
    return;
  }
  adopt(station, parcel, { job: msg.job, message: msg, result });
  if (parcel === station.parcel) {
    station.phase = "measured";
    station.job = null;
    say(station, "good", fill(t.measured, result));
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

/** What comes after the measurement: the picture, the billable weight, the evidence. A later measurement has its own. */
function added(station) {
  const entry = entryOf(station, msg.parcel);
  if (entry === undefined || entry.job !== msg.job) {
    return;
  }
  if (msg.topic === "picture") {
    entry.picture = msg.error ? "" : msg.picture;
  } else if (msg.topic === "billed") {
    const { weight, unit, basis, over, thresholds = [] } = msg.billable ?? {};
    const names = thresholds.filter((one) => one.over).map((one) => one.name);
    entry.billable = msg.error
      ? { problem: msg.error.message }
      : { weight, unit, basis, over: over !== false, names };
  } else if (msg.topic === "late") {
    entry.evidence = entry.evidence === "saved" ? "saved" : "late";
    peers.cloud = msg.cloud ? { ok: false, text: t.late } : peers.cloud;
  } else if (msg.error) {
    Object.assign(entry, { evidence: "failed", message: null });
    say(station, "error", fill(t.notArchived, entry), msg.error.message);
  } else {
    peers.cloud = msg.cloud ? { ok: true, text: t.answers } : peers.cloud;
    archived(entry, msg.payload);
  }
}

function archived(entry, { location, files, complete }) {
  Object.assign(entry, { evidence: complete ? "saved" : "incomplete", location, message: null });
  entry.files = files.map(({ path, contentType, bytes, sha256 }) => ({
    path,
    contentType: contentType ?? "application/octet-stream",
    bytes,
    sha256,
  }));
  const are = (kind) => entry.files.filter((one) => one.contentType.startsWith(`${kind}/`));
  entry.holds = { pictures: are("image").length, videos: are("video").length };
  // A measurement of which only the cloud has told has no picture from the device.
  const shown = files.find(({ description }) => /annotated/i.test(description ?? "")) ?? are("image")[0];
  const index = entry.files.findIndex(({ path }) => path === shown?.path);
  if (!entry.picture && index >= 0) {
    entry.picture = `evidence/${entry.id}/${index}`;
  }
}
