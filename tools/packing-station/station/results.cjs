// What the nodes report: commands that went through or failed, and what follows a measurement.
/** The outcome of a command, in words that say what to do next. */
function failed(station, error) {
  const outcome = error.cause?.outcome ?? "not-sent";
  const did = station.phase;
  const { parcel } = station;
  count(station, "failures");
  station.job = null;
  if (outcome === "unknown") {
    station.phase = "check";
    station.unknown = did;
    say(station, "error", fill(t[`unknown_${did}`], parcel), error.message);
    return;
  }
  say(station, "error", fill(t[outcome === "failed" ? "failed" : `nothing_${did}`], parcel), error.message);
  station.phase =
    did === "starting" || (did === "measuring" && !parcel.video && !parcel.result) ? "idle" : station.before;
  if (station.phase === "idle") {
    station.parcel = null;
  }
}

function measured(station) {
  const result = Object.fromEntries(resultFields.map((name) => [name, msg.payload[name]]));
  const parcel = station.parcel?.id === msg.parcel ? station.parcel : entryOf(station, msg.parcel);
  if (parcel === undefined) {
    return;
  }
  Object.assign(parcel, {
    job: msg.job,
    result,
    billable: null,
    picture: "",
    evidence: "waiting",
    files: [],
  });
  parcel.measurements = (parcel.measurements ?? 0) + 1;
  keep(station, parcel, parcel === station.parcel ? "measured" : parcel.state);
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
    station.parcel.doubt = false;
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
    entry.evidence = "failed";
    entry.evidenceProblem = msg.error.message;
    say(station, "error", fill(t.notArchived, entry), msg.error.message);
  } else {
    const { location, files, complete } = msg.payload;
    peers.cloud = msg.cloud ? { ok: true, text: t.answers } : peers.cloud;
    Object.assign(entry, { evidence: complete ? "saved" : "incomplete", location });
    entry.files = files.map(({ path, contentType, bytes, sha256 }) => ({
      path,
      contentType: contentType ?? "application/octet-stream",
      bytes,
      sha256,
    }));
  }
}
