// What the packer does: scans, badges and buttons.
function begin(station, reference) {
  const withVideo = places[station.name].video !== false;
  station.parcel = {
    id: RED.util.generateId(),
    reference,
    operator: station.operator,
    startedAt: now,
    at: now,
    video: withVideo,
    // One for each measurement, in the order in which the device was told to measure.
    packages: [],
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

function cancel(station, forgotten = false) {
  const { parcel } = station;
  station.notice = null;
  parcel.forgotten = forgotten;
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

/** Scanners sometimes send a code twice. */
function isRepeated(station, code) {
  const last = station.lastScan;
  station.lastScan = { reference: code, at: now };
  return last?.reference === code && Math.abs(now - last.at) < 1000 * Number(env.get("IGNORE_REPEATS"));
}

function scanned(station, reference) {
  if (isRepeated(station, reference)) {
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

/** A printed code does what a button does. It is there also while the screen does not show the button. */
function printed(station, control) {
  if (isRepeated(station, control)) {
    return;
  }
  const { phase } = station;
  const codes = new Map([
    ["STATION_CONFIRM", ["confirm", t.buttonConfirm]],
    ["STATION_AGAIN", phase === "check" ? ["again", t.buttonRetry] : ["measure", t.buttonAgain]],
    ["STATION_CANCEL", ["cancel", t.buttonCancel]],
  ]);
  const [action, button] = codes.get(control) ?? ["", control];
  if (possibleIn.get(action)?.includes(phase)) {
    pressed(station, action);
  } else {
    say(station, "error", fill(t.notNow, { button }));
  }
}

/** The phases in which a button does something. */
const possibleIn = new Map([
  ["cancel", ["recording", "measured", "check"]],
  ["measure", ["recording", "measured"]],
  ["again", ["check"]],
  ["confirm", ["measured"]],
]);

function pressed(station, action) {
  if (action === "signOut" && station.operator !== "") {
    signIn(station, station.operator);
  } else if (!possibleIn.get(action)?.includes(station.phase)) {
    return;
  } else if (action === "cancel") {
    cancel(station);
  } else if (action === "measure") {
    measure(station);
  } else if (action === "again") {
    station.notice = null;
    if (station.unknown === "starting") {
      command(station, "video", "starting", "start");
    } else if (station.unknown === "cancelling") {
      cancel(station);
    } else {
      measure(station);
    }
  } else {
    finish(station, "confirmed");
  }
}
