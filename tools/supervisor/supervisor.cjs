// What the supervisor's page shows. The packing stations write their state into the global context; the other messages say how
// the store and the cloud's devices are. An alarm stays until its cause is over and somebody has acknowledged it.
const now = Date.now();
const texts = flow.get("texts");
const t = texts[env.get("LANGUAGE")] ?? texts.en;
const kept = flow.get("supervisor") ?? { alarms: {}, log: [], store: null, fleet: null };
const sent = context.get("sent");
const logLimit = 50;
const rowLimit = 50;
const minute = 60_000;

const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
const shown = (number, digits = 0) =>
  number.toLocaleString(env.get("LANGUAGE"), { maximumFractionDigits: digits });

const isRunning = ({ at }) => now - at < 1000 * Number(env.get("STOPPED_AFTER"));
const stoppedKey = ({ tab }) => `stopped ${tab}`;

/** The docks of all tabs with packing stations. */
function docks() {
  return Object.values(global.get("packingStations") ?? {}).flatMap((one) =>
    one.stations.map((dock) => ({ ...dock, tab: one.tab, runs: isRunning(one) })),
  );
}

/** Nothing else ends the alarm of a tab that was deleted. A tab that runs again writes its docks again within a second. */
function forgetStopped(key) {
  const tabs = Object.entries(global.get("packingStations") ?? {});
  const others = tabs.filter(([, one]) => isRunning(one) || stoppedKey(one) !== key);
  global.set("packingStations", Object.fromEntries(others));
}

/** What is wrong now, each with a key of its own. */
function problems(all) {
  const found = new Map();
  const say = (key, text, values) => found.set(key, fill(text, values));
  for (const { name, tab, runs, device, peer, phase, parcel, phaseAt } of all) {
    if (!runs) {
      say(stoppedKey({ tab }), t.alarmStopped, { tab });
    } else {
      if (peer?.ok === false) {
        say(`device ${device}`, t.alarmDevice, { device, text: peer.text });
      }
      if (phase === "check" && now - phaseAt > minute) {
        say(`check ${name}`, t.alarmCheck, { name, parcel });
      }
    }
  }
  const { store, fleet } = kept;
  if (store?.problem) {
    say("store", t.alarmStore, { problem: store.problem });
  } else if (store) {
    if (store.oldestJobFor > 60 * Number(env.get("OLDEST_JOB"))) {
      say("jobs", t.alarmJobs, { count: store.openJobs, minutes: shown(store.oldestJobFor / 60) });
    }
    if (store.freeBytes !== null && store.freeBytes < 1e9 * Number(env.get("FREE_SPACE"))) {
      say("space", t.alarmSpace, { free: shown(store.freeBytes / 1e9, 1) });
    }
  }
  if (fleet?.problem) {
    say("fleet", t.alarmFleet, { problem: fleet.problem });
  }
  for (const { id, name, silentFor } of silentDevices()) {
    const text = silentFor === null ? t.alarmNeverHeard : t.alarmSilent;
    say(`silent ${id}`, text, { name, minutes: shown((silentFor ?? 0) / 60) });
  }
  return found;
}

function silentDevices() {
  const limit = Number(env.get("SILENT_AFTER"));
  return (kept.fleet?.devices ?? []).filter(({ silentFor }) => silentFor === null || silentFor >= limit);
}

/** Begins, continues and ends alarms. One that is over stays until somebody has acknowledged it; if it returns, it is sent again. */
function updateAlarms(found) {
  const begun = [];
  for (const [key, text] of found) {
    const alarm = kept.alarms[key];
    if (alarm === undefined) {
      kept.alarms[key] = { id: RED.util.generateId(), key, text, since: now, by: "", at: null, over: null };
      begun.push({ topic: key, payload: text });
    } else {
      if (alarm.over) {
        begun.push({ topic: key, payload: text });
      }
      Object.assign(alarm, { text, over: null });
    }
  }
  for (const alarm of Object.values(kept.alarms)) {
    if (!found.has(alarm.key)) {
      alarm.over ??= now;
    }
    if (alarm.over && alarm.by) {
      kept.log.unshift(alarm);
      kept.log.length = Math.min(kept.log.length, logLimit);
      delete kept.alarms[alarm.key];
    }
  }
  return begun;
}

function acknowledge({ id, name }) {
  const by = typeof name === "string" ? name.trim().slice(0, 40) : "";
  const alarm = Object.values(kept.alarms).find((one) => one.id === id);
  if (alarm !== undefined && by !== "" && !alarm.by) {
    Object.assign(alarm, { by, at: now });
    forgetStopped(alarm.key);
  }
}

function perHour({ parcels, since }) {
  return Math.round(parcels / Math.max(1 / 12, (now - since) / (60 * minute)));
}

/** What the page shows of a dock. */
function dockOf(dock) {
  const { name, runs, device, peer, phase, operator, parcel, parcels, failures, waiting, last } = dock;
  const recording = dock.doubt ? "recordingDoubt" : dock.recorded ? "recorded" : "recording";
  const state = t[phase === "recording" ? recording : phase] ?? phase;
  return {
    name,
    device,
    phase: runs ? phase : "stopped",
    state: runs ? state : t.stopped,
    operator,
    parcel: parcel ?? "",
    peer,
    parcels,
    failures,
    rate: perHour(dock),
    waiting,
    last,
  };
}

/** The table of the last parcels, the newest first. Dashboard takes its headings from the names of the properties. */
function rowsOf(all) {
  const parcels = all.flatMap(({ name, history }) => history.map((one) => ({ ...one, name })));
  return parcels
    .sort((one, other) => other.at - one.at)
    .slice(0, rowLimit)
    .map(({ at, name, operator, reference, summary, state, evidence }) => ({
      [t.columnTime]: new Date(at).toLocaleTimeString(env.get("LANGUAGE")),
      [t.columnDock]: name,
      [t.columnOperator]: operator,
      [t.columnParcel]: reference,
      [t.columnDimensions]: summary,
      [t.columnState]: t[`parcel_${state}`] ?? state,
      [t.columnEvidence]: t[`evidence_${evidence}`] ?? "",
    }));
}

function barsOf(all) {
  const counts = all.flatMap(({ name, hours }) =>
    Object.entries(hours).map(([hour, { parcels }]) => ({ hour, series: name, count: parcels })),
  );
  return rowsByHour(counts);
}

/** The same again would make the table and the charts draw themselves again. */
function ifChanged(name, message) {
  const text = JSON.stringify(message);
  const isNew = sent[name] !== text;
  sent[name] = text;
  return isNew ? message : null;
}

function titleOf(chart, text) {
  return ifChanged(`title of ${chart}`, { ui_update: { chartOptions: { title: { text } } } });
}

const { topic } = msg;
if (topic === "acknowledge") {
  acknowledge(msg.payload ?? {});
} else if (topic === "store") {
  kept.store = msg.error ? { problem: msg.error.message } : msg.payload;
} else if (topic === "fleet") {
  kept.fleet = msg.error ? { problem: msg.error.message } : { devices: msg.payload };
}

const all = docks();
const begun = updateAlarms(problems(all));
flow.set("supervisor", kept);
const alarms = Object.values(kept.alarms).sort((one, other) => other.since - one.since);
const payload = {
  now,
  texts: t,
  language: env.get("LANGUAGE"),
  docks: all.map(dockOf),
  store: kept.store,
  silent: kept.fleet?.devices ? silentDevices().map(({ name }) => name) : null,
  alarms,
  log: kept.log,
};
const open = alarms.filter(({ by }) => by === "").length;
node.status({
  fill: open > 0 ? "red" : "green",
  shape: open > 0 ? "ring" : "dot",
  text: fill(t.status, { count: open }),
});
const jobs = topic === "store" && !msg.error ? { topic: t.openJobs, payload: kept.store.openJobs } : null;
const outputs = [
  { topic: "state", payload },
  begun,
  ifChanged("rows", { payload: rowsOf(all) }),
  [titleOf("bars", t.parcelsByHour), ifChanged("bars", { payload: barsOf(all) })],
  [titleOf("jobs", t.jobsByTime), jobs],
];
context.set("sent", sent);
return outputs;
