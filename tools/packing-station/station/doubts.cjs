// Measurements of which nobody knows whether they were made, and what a deploy has cut off. A device cannot be asked what it
// has done, but the cloud reports each measurement, with the ID of its command in customReference2.
const doubtLimit = 10;

function parcelOf(station, id) {
  return station.parcel?.id === id ? station.parcel : entryOf(station, id);
}

/** The outcome of the command that was sent last is not known. The start of this flow does the same after a deploy. */
function doubted(station) {
  const { job, jobAt, parcel, phase, reported, doubts } = station;
  if (phase === "measuring") {
    parcel.doubt = parcel.video && !parcel.result;
    const doubt = { job, sentAt: jobAt, id: parcel.id, reference: parcel.reference, record: reported };
    station.doubts = [doubt, ...doubts].slice(0, doubtLimit);
  }
  Object.assign(station, { phase: "check", unknown: phase, job: null });
}

/** The record of a measurement may come before its answer, or when the answer did not come. */
function reported(record) {
  const job = record.customReference2;
  for (const station of Object.values(stations)) {
    const doubt = station.doubts.find((one) => one.job === job);
    if (doubt !== undefined) {
      doubt.record = record;
      settle(station);
    } else if (station.phase === "measuring" && station.job === job) {
      station.reported = record;
    }
  }
}

/** Ends the doubts of which there is a record. */
function settle(station) {
  const known = station.doubts.filter(({ record }) => record);
  station.doubts = station.doubts.filter(({ record }) => !record);
  known.forEach((doubt) => learn(station, doubt));
}

function learn(station, { job, sentAt, id, reference, record }) {
  const parcel = parcelOf(station, id);
  const isAsked =
    parcel && parcel === station.parcel && station.phase === "check" && station.unknown === "measuring";
  changed.add(station);
  if (!record.ok) {
    if (isAsked) {
      notMeasurable(station, record.errorMessage ?? "");
    }
    return;
  }
  const { device, cloud } = places[station.name] ?? {};
  const message = {
    station: station.name,
    transactionId: record.transactionId,
    transactionReference: reference,
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
  out.evidence.push(RED.util.cloneMessage(message));
  if (parcel === undefined) {
    return;
  }
  const result = resultOf(record);
  if (!isAsked && parcel.result) {
    // It was measured again meanwhile, which is what the screen shows.
    addPackage(parcel, { job, sentAt, message, summary: result.summary });
    return;
  }
  adopt(station, parcel, { job, sentAt, message, result });
  if (isAsked) {
    station.phase = "measured";
    say(station, "good", fill(t.measuredAfterAll, { reference, summary: result.summary }));
  } else if (parcel === station.parcel) {
    station.before = "measured";
  }
}

/** What was on its way to the archive when the flow was deployed goes there again: it archives nothing twice. */
function sendAgain(station) {
  const packages = station.history.flatMap((parcel) => parcel.packages);
  for (const one of packages.filter(({ isCutOff }) => isCutOff)) {
    delete one.isCutOff;
    // A message of an earlier version of this flow has no proof, and its report would be taken for somebody else's.
    out.evidence.push(RED.util.cloneMessage({ ...one.message, proof }));
  }
}
