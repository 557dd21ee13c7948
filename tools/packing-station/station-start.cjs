// A deploy ends a command that was on its way, and nobody hears its answer: the device may have acted. So the screen asks,
// until the cloud reports the measurement.
const texts = flow.get("texts") ?? {};
const t = texts[env.get("LANGUAGE")] ?? texts.en;
for (const station of Object.values(flow.get("stations") ?? {})) {
  // What was on its way to the archive may be lost with the deploy. What it had accepted it would report by itself.
  station.history
    .flatMap(({ packages }) => packages)
    .filter(({ evidence, message }) => evidence === "waiting" && message)
    .forEach((one) => Object.assign(one, { isCutOff: true }));
  // A context store on disk has made two of one.
  station.parcel = station.history.find(({ id }) => id === station.parcel?.id) ?? station.parcel;
  const { phase, parcel } = station;
  if (["starting", "measuring", "cancelling"].includes(phase)) {
    if (phase === "measuring") {
      parcel.doubt = parcel.video && !parcel.result;
      const { id, reference } = parcel;
      const { job, jobAt: sentAt, reported: record } = station;
      station.doubts.unshift({ job, sentAt, id, reference, record });
    }
    Object.assign(station, { phase: "check", unknown: phase, job: null });
    station.version += 1;
    station.notices += 1;
    const text = t[`unknown_${phase}`].replace("{reference}", parcel.reference);
    const id = `${station.boot}-${station.notices}`;
    station.notice = { id, kind: "error", text, detail: t.deployed, at: Date.now() };
  }
}
