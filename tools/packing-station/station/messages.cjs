// What each message is about.
const station = stationNamed(msg.station);
const isInput = msg.topic === "scan" || msg.topic === "button";
if (msg.topic === "status" && msg.status.source.type !== "dimensioner-device") {
  // The status of this node comes here, too: a status in answer to it would be followed by the next one without end.
  return null;
} else if (msg.topic === "status") {
  noted();
} else if (msg.topic === "cloud") {
  cloudAnswered();
} else if (msg.topic === "record") {
  reported(msg.payload);
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
    printed(station, msg.control);
  } else if (msg.topic === "scan") {
    scanned(station, msg.transactionReference);
  } else {
    pressed(station, msg.payload);
  }
} else if (msg.proof !== proof) {
  return null;
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
  one.phaseAt = one.phase === one.lastPhase ? one.phaseAt : now;
  one.lastPhase = one.phase;
  for (const client of Object.keys(one.clients)) {
    out.screen.push(stateFor(one, client, false));
    if (one.chart) {
      out.chart.push(chartFor(one, client));
    }
  }
  one.chart = false;
}
flow.set("stations", stations);
publish();
flow.set("peers", peers);
flow.set("clouds", clouds);
node.status({
  text: Object.values(stations)
    .map((one) => `${one.name}: ${one.phase}`)
    .join(", ")
    .slice(0, 60),
});
return [out.screen, out.video, out.measure, out.done, out.chart, out.evidence];
