// What happens at each station, and what its screens show. Messages come from the screens, from the nodes that work, and
// from the Catch and Status nodes; msg.topic says which. Each station packs one parcel at a time, in one of these phases:
// idle, starting, recording, measuring, measured, cancelling, and check: nobody knows whether the device has acted.
const now = Date.now();
const places = env.get("STATIONS");
const stations = flow.get("stations") ?? {};
const peers = flow.get("peers") ?? {};
const clouds = flow.get("clouds") ?? {};
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
const out = { screen: [], video: [], measure: [], done: [], chart: [], evidence: [] };
const changed = new Set();
// Dashboard lets a browser send a message from any node. What the nodes report of a command or its evidence has to bring back
// what only this flow knows.
const proof = flow.get("proof") ?? crypto.randomUUID();
flow.set("proof", proof);

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
    doubts: [],
    reported: null,
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
  const { parcel } = station;
  // What is tried again goes back to where the first try would have.
  station.before = [phase, "check"].includes(station.phase) ? station.before : station.phase;
  station.phase = phase;
  station.job = RED.util.generateId();
  station.reported = null;
  station.jobAt = now;
  out[topic].push({
    topic,
    action,
    dock: place.device,
    ...(place.cloud ? { cloud: place.cloud } : {}),
    station: station.name,
    job: station.job,
    sentAt: now,
    parcel: parcel.id,
    proof,
    transactionReference: parcel.reference,
    ...(topic === "measure" ? videoOf(parcel) : {}),
  });
}

/** What a measurement has to know of the video: after a restart, no node knows any more that it was started. */
function videoOf({ result, filmed }) {
  if (result) {
    // An earlier measurement of the parcel has got it.
    return { videoTaken: true };
  }
  return filmed ? { video: filmed } : {};
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
