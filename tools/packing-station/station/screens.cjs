// What the screens show, and what happens without the packer: time, and the state of devices.
function greeted(station) {
  const { version, boot, reference, isMade } = msg.payload;
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
  if (isNew || isMade) {
    out.chart.push(chartFor(station, client));
  }
}

/** The checks report changes only: a device that was away between two of them counts as they have found it. */
function forgetFailure(station) {
  const { device } = places[station.name];
  const { checked, failedAt } = peers[device] ?? {};
  if (checked && failedAt && now - failedAt > 1000 * Number(env.get("ANSWER_WITHIN"))) {
    peers[device] = { ...checked, checked };
    changed.add(station);
  }
}

/** What was not discarded is tried again after the same time, but not while a check finds that the device is away. */
function isForgotten({ name, jobAt, recordingSince }) {
  const isAway = peers[places[name].device]?.checked?.ok === false;
  return !isAway && now - Math.max(jobAt, recordingSince) > 1000 * Number(env.get("FORGOTTEN_AFTER"));
}

function ticked(station) {
  forgetFailure(station);
  sendAgain(station);
  settle(station);
  const { phase } = station;
  if (phase === "recording" && isForgotten(station)) {
    cancel(station, true);
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

/** What a device shows as its status. */
function noted() {
  const { fill: colour, text, source } = msg.status;
  const before = peers[source.name];
  const ok = colour === "green";
  const checked = { ok, text: ok ? t.answers : text };
  peers[source.name] = { ...checked, checked };
  if (before?.text !== checked.text || before.ok !== ok) {
    Object.values(stations)
      .filter((one) => places[one.name]?.device === source.name)
      .forEach((one) => {
        changed.add(one);
        doubt(one);
      });
  }
}

/** One of the clouds has answered, or not. */
function cloudAnswered() {
  const silent = ["ERR_UNREACHABLE", "ERR_TIMEOUT", "ERR_CONNECTION_LOST"].includes(msg.error?.code);
  const problem = silent ? t.noDevice : msg.error?.message;
  const answer = { ok: !msg.error, text: problem ?? t.answers };
  if (clouds[msg.cloud]?.text !== answer.text) {
    clouds[msg.cloud] = answer;
    Object.values(stations)
      .filter((one) => places[one.name]?.cloud === msg.cloud)
      .forEach((one) => changed.add(one));
  }
}

/** A device that cannot be reached may have been switched off: then it does not record any more. */
function doubt(station) {
  const isFilmed = station.phase === "recording" || (station.phase === "measuring" && !station.parcel.result);
  if (isFilmed && station.parcel.video && peers[places[station.name].device]?.ok === false) {
    station.parcel.doubt = true;
  }
}

/** A command that went through, or that found no device, says the same as the next check would. */
function heardFrom(station) {
  const { device } = places[station.name];
  if (msg.error?.code === "ERR_UNREACHABLE") {
    peers[device] = { ...peers[device], ok: false, text: t.noDevice, failedAt: now };
    doubt(station);
  } else if (!msg.error) {
    peers[device] = { ...peers[device], ok: true, text: t.answers, failedAt: undefined };
  }
}

function shownOf(parcel) {
  if (!parcel) {
    return null;
  }
  const packages = parcel.packages.map(({ id, evidence, holds, files }) => ({
    id,
    evidence,
    holds,
    link: files.length > 0 ? `evidence/${id}` : "",
  }));
  return { ...parcel, packages, evidence: evidenceOf(parcel) };
}

/** How the evidence of a parcel is: of several packages, the one that needs somebody most. */
function evidenceOf({ packages }) {
  const worstFirst = ["failed", "incomplete", "late", "waiting", "saved"];
  return worstFirst.find((state) => packages.some(({ evidence }) => evidence === state)) ?? "";
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
    cloud: place.cloud ? (clouds[place.cloud] ?? null) : undefined,
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
  const counts = Object.entries(station.shift.hours).flatMap(([hour, { parcels, failures }]) => [
    { hour, series: t.parcels, count: parcels },
    { hour, series: t.failures, count: failures },
  ]);
  return { payload: rowsByHour(counts), _client: { socketId } };
}

/** Example 31, the supervisor's page, reads this: how every station of this tab is, whether a page shows it or not. */
function publish() {
  const summaries = Object.keys(places).map((name) => {
    const one = stationNamed(name);
    const { phase, phaseAt, operator, history, shift, parcel, notice } = one;
    const { device } = places[name];
    const shown = history.map((entry) => ({
      id: entry.id,
      reference: entry.reference,
      operator: entry.operator,
      at: entry.at,
      state: entry.state,
      evidence: evidenceOf(entry),
      summary: entry.result?.summary ?? "",
    }));
    return {
      name,
      device,
      peer: peers[device],
      phase,
      phaseAt,
      doubt: parcel?.doubt === true,
      recorded: parcel?.recorded === true,
      operator,
      parcel: parcel?.reference ?? null,
      notice,
      ...shift,
      history: shown,
      last: shown[0] ?? null,
      waiting: history
        .flatMap(({ packages }) => packages)
        .filter(({ evidence }) => ["waiting", "late"].includes(evidence)).length,
    };
  });
  const all = global.get("packingStations") ?? {};
  const tab = { tab: env.get("NR_FLOW_NAME"), at: now, stations: summaries };
  global.set("packingStations", { ...all, [env.get("NR_FLOW_ID")]: tab });
}
