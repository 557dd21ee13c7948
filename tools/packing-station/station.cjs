// What happens at each station, and what its screens show. Messages come from the screens, from the nodes that work, and
// from the Catch and Status nodes; msg.topic says which. Each station packs one parcel at a time, in one of these phases:
// idle, starting, recording, measuring, measured, cancelling, and check: nobody knows whether the device has acted.
const now = Date.now();
const places = env.get("STATIONS");
const stations = flow.get("stations") ?? {};
const peers = flow.get("peers") ?? {};
const texts = flow.get("texts");
const t = texts[env.get("LANGUAGE")] ?? texts.en;
const historyLimit = 20;
/** What is kept of a measurement, for the screen and for what comes after the parcel. */
const resultFields = [
  "ok",
  "summary",
  "length",
  "width",
  "height",
  "dimsUnitOfMeasure",
  "weight",
  "weightUnitOfMeasure",
  "legalForTrade",
];
const busyPhases = ["starting", "measuring", "cancelling"];
const out = { screen: [], video: [], measure: [], done: [], chart: [] };
const changed = new Set();

const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");

function stationNamed(name) {
  if (typeof name !== "string" || !Object.hasOwn(places, name)) {
    return undefined;
  }
  stations[name] ??= {
    name,
    boot: RED.util.generateId(),
    version: 0,
    phase: "idle",
    parcel: null,
    shown: null,
    operator: "",
    notice: null,
    notices: 0,
    history: [],
    inputs: [],
    clients: {},
    shift: { since: now, parcels: 0, failures: 0, hours: {} },
  };
  return stations[name];
}

function say(station, kind, text, detail = "") {
  station.notices += 1;
  station.notice = { id: `${station.boot}-${station.notices}`, kind, text, detail, at: now };
}

function count(station, what) {
  const { shift } = station;
  const hour = new Date(now).toISOString().slice(0, 13);
  shift[what] += 1;
  shift.hours[hour] ??= { parcels: 0, failures: 0 };
  shift.hours[hour][what] += 1;
  const old = Object.keys(shift.hours).sort().slice(0, -12);
  old.forEach((one) => delete shift.hours[one]);
  station.chart = true;
}

function command(station, topic, phase, action) {
  const place = places[station.name];
  station.before = phase === station.phase ? station.before : station.phase;
  station.phase = phase;
  station.job = RED.util.generateId();
  station.jobAt = now;
  out[topic].push({
    topic,
    action,
    dock: place.device,
    ...(place.cloud ? { cloud: place.cloud } : {}),
    station: station.name,
    job: station.job,
    parcel: station.parcel.id,
    transactionReference: station.parcel.reference,
  });
}

function entryOf(station, id) {
  return station.history.find((one) => one.id === id);
}

function keep(station, parcel, state) {
  const entry = entryOf(station, parcel.id);
  if (entry === undefined) {
    station.history.unshift(parcel);
    station.history.length = Math.min(station.history.length, historyLimit);
  }
  parcel.state = state;
  parcel.at = now;
}

function finish(station, state) {
  const { parcel } = station;
  keep(station, parcel, state);
  if (state === "confirmed") {
    count(station, "parcels");
  }
  out.done.push({
    topic: state,
    station: station.name,
    operator: station.operator,
    transactionReference: parcel.reference,
    payload: parcel.result ?? null,
    billable: parcel.billable ?? null,
    parcel: parcel.id,
  });
  station.parcel = null;
  station.phase = "idle";
  station.shown = parcel;
}

function begin(station, reference) {
  const withVideo = places[station.name].video !== false;
  station.parcel = {
    id: RED.util.generateId(),
    reference,
    operator: station.operator,
    startedAt: now,
    at: now,
    video: withVideo,
  };
  station.shown = null;
  station.notice = null;
  station.phase = "idle";
  if (withVideo) {
    command(station, "video", "starting", "start");
  } else {
    command(station, "measure", "measuring");
  }
}

function measure(station) {
  station.notice = null;
  command(station, "measure", "measuring");
}

function cancel(station) {
  const { parcel } = station;
  station.notice = null;
  if (parcel.video && !parcel.result) {
    command(station, "video", "cancelling", "cancel");
  } else {
    finish(station, "cancelled");
    say(station, "info", fill(t.cancelled, parcel));
  }
}

function signIn(station, operator) {
  if (station.parcel !== null && station.phase !== "measured") {
    say(station, "error", fill(t.finishFirst, station.parcel));
    return;
  }
  if (station.phase === "measured") {
    finish(station, "confirmed");
  }
  const leaves = station.operator === operator;
  station.operator = leaves ? "" : operator;
  station.shown = null;
  if (!leaves) {
    station.shift = { since: now, parcels: 0, failures: 0, hours: {} };
    station.chart = true;
  }
  say(station, "info", fill(leaves ? t.signedOut : t.signedIn, { operator }));
}

function scanned(station, reference) {
  const last = station.lastScan;
  station.lastScan = { reference, at: now };
  if (last?.reference === reference && now - last.at < 1000 * Number(env.get("IGNORE_REPEATS"))) {
    return;
  }
  const badge = new RegExp(env.get("BADGE")).exec(reference);
  if (badge !== null) {
    signIn(station, badge[1] ?? badge[0]);
  } else if (env.get("SIGN_IN") === true && station.operator === "") {
    say(station, "error", t.signInFirst);
  } else if (
    station.parcel !== null &&
    station.parcel.reference !== reference &&
    station.phase !== "measured"
  ) {
    say(station, "error", fill(t.mismatch, { scanned: reference, reference: station.parcel.reference }));
  } else if (station.phase === "idle") {
    begin(station, reference);
  } else if (station.phase === "recording") {
    measure(station);
  } else if (station.phase === "measured") {
    const other = station.parcel.reference !== reference;
    finish(station, "confirmed");
    if (other) {
      begin(station, reference);
    }
  } else if (station.phase === "check") {
    say(station, "error", t.chooseFirst);
  }
}

function pressed(station, action) {
  const { phase } = station;
  if (action === "signOut" && station.operator !== "") {
    signIn(station, station.operator);
  } else if (action === "cancel" && ["recording", "measured", "check"].includes(phase)) {
    cancel(station);
  } else if (action === "measure" && (phase === "recording" || phase === "measured")) {
    measure(station);
  } else if (action === "again" && phase === "check") {
    station.notice = null;
    if (station.unknown === "starting") {
      command(station, "video", "starting", "start");
    } else if (station.unknown === "cancelling") {
      cancel(station);
    } else {
      measure(station);
    }
  } else if (action === "confirm" && phase === "measured") {
    finish(station, "confirmed");
  }
}

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

function greeted(station) {
  const { version, boot, reference } = msg.payload;
  const client = msg._client.socketId;
  const isNew = station.clients[client] === undefined;
  station.clients[client] = now;
  if (boot && boot !== station.boot && reference && station.phase === "idle" && station.notice === null) {
    say(station, "error", fill(t.restarted, { reference }));
    changed.add(station);
  }
  if (isNew || boot !== station.boot || version !== station.version) {
    out.screen.push(stateFor(station, client, true));
  } else {
    out.screen.push({
      topic: "alive",
      station: station.name,
      payload: { now },
      _client: { socketId: client },
    });
  }
  if (isNew) {
    out.chart.push(chartFor(station, client));
  }
}

function ticked(station) {
  const { phase } = station;
  const isForgotten = now - station.recordingSince > 1000 * Number(env.get("FORGOTTEN_AFTER"));
  if (phase === "recording" && isForgotten && !station.parcel.forgotten) {
    station.parcel.forgotten = true;
    cancel(station);
    changed.add(station);
  } else if (busyPhases.includes(phase) && now - station.jobAt > 1000 * Number(env.get("ANSWER_WITHIN"))) {
    failed(station, { message: t.noAnswer, cause: { outcome: "unknown" } });
    changed.add(station);
  }
  for (const [client, seenAt] of Object.entries(station.clients)) {
    if (now - seenAt > 60_000) {
      delete station.clients[client];
    }
  }
}

function noted() {
  const { fill: colour, text, source } = msg.status;
  const kind = { "dimensioner-device": "device", "dimensioner-cloud": "cloud" }[source.type];
  const name = kind === "cloud" ? "cloud" : source.name;
  if (kind !== undefined && (peers[name]?.text !== text || peers[name]?.ok !== (colour === "green"))) {
    peers[name] = { ok: colour === "green", text };
    Object.values(stations)
      .filter((one) => kind === "cloud" || places[one.name]?.device === name)
      .forEach((one) => changed.add(one));
  }
}

/** A command that went through, or that found no device, says the same as the next check would. */
function heardFrom(station) {
  const { device } = places[station.name];
  if (msg.error?.code === "ERR_UNREACHABLE") {
    peers[device] = { ok: false, text: t.noDevice };
  } else if (!msg.error) {
    peers[device] = { ok: true, text: t.answers };
  }
}

function shownOf(parcel) {
  if (!parcel) {
    return null;
  }
  return { ...parcel, files: undefined, link: parcel.files?.length > 0 ? `evidence/${parcel.id}` : "" };
}

function stateFor(station, socketId, withTexts) {
  const place = places[station.name];
  const { parcels, failures, since } = station.shift;
  const payload = {
    boot: station.boot,
    version: station.version,
    now,
    phase: station.phase,
    operator: station.operator,
    withSignIn: env.get("SIGN_IN") === true,
    label: place.device,
    notice: station.notice,
    inputs: station.inputs,
    since: station.recordingSince,
    unknown: station.unknown,
    parcel: shownOf(station.parcel ?? station.shown),
    device: peers[place.device] ?? null,
    cloud: place.cloud ? (peers.cloud ?? null) : undefined,
    shift: { parcels, failures, since },
    history: station.history.map(shownOf),
  };
  return {
    topic: "state",
    station: station.name,
    _client: { socketId },
    payload: withTexts ? { ...payload, texts: t, language: env.get("LANGUAGE") } : payload,
  };
}

function chartFor(station, socketId) {
  const rows = Object.entries(station.shift.hours).flatMap(([hour, one]) => {
    const local = `${String(new Date(`${hour}:00:00Z`).getHours()).padStart(2, "0")}:00`;
    return [
      { hour: local, series: t.parcels, count: one.parcels },
      { hour: local, series: t.failures, count: one.failures },
    ];
  });
  return { payload: rows, _client: { socketId } };
}

const station = stationNamed(msg.station);
const isInput = msg.topic === "scan" || msg.topic === "button";
if (msg.topic === "status") {
  noted();
} else if (msg.topic === "tick") {
  Object.keys(stations)
    .filter((name) => Object.hasOwn(places, name))
    .forEach((name) => ticked(stations[name]));
} else if (station === undefined) {
  // The address of the page names no station, or one that was removed: the page has to say so.
  if (msg._client) {
    const payload = { texts: t, language: env.get("LANGUAGE"), stations: Object.keys(places) };
    return [[{ topic: "unknown", station: msg.station, payload, _client: msg._client }]];
  }
  return null;
} else if (msg.topic === "hello") {
  greeted(station);
} else if (isInput && (station.inputs.includes(msg.input) || now - msg.at > 10_000)) {
  // The screen repeats what was not confirmed, during a deploy for instance; it counts once, and never late.
  changed.add(station);
} else if (isInput) {
  station.inputs = [msg.input, ...station.inputs].slice(0, 20);
  changed.add(station);
  if (msg.error) {
    say(station, "error", t.unreadable, msg.error.message);
  } else if (msg.control) {
    pressed(
      station,
      { STATION_CANCEL: "cancel", STATION_AGAIN: "measure", STATION_CONFIRM: "confirm" }[msg.control],
    );
  } else if (msg.topic === "scan") {
    scanned(station, msg.transactionReference);
  } else {
    pressed(station, msg.payload);
  }
} else if (msg.topic === "video" || msg.topic === "measure") {
  heardFrom(station);
  changed.add(station);
  if (!msg.error) {
    (msg.topic === "video" ? filmed : measured)(station);
  } else if (msg.job === station.job) {
    failed(station, msg.error);
  }
} else {
  added(station);
  changed.add(station);
}

for (const one of changed) {
  one.version += 1;
  for (const client of Object.keys(one.clients)) {
    out.screen.push(stateFor(one, client, false));
    if (one.chart) {
      out.chart.push(chartFor(one, client));
    }
  }
  one.chart = false;
}
flow.set("stations", stations);
flow.set("peers", peers);
node.status({
  text: Object.values(stations)
    .map((one) => `${one.name}: ${one.phase}`)
    .join(", ")
    .slice(0, 60),
});
return [out.screen, out.video, out.measure, out.done, out.chart];
