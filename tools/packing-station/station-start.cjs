// A deploy ends a command that was on its way, and nobody hears its answer: the device may have acted. So the screen asks.
const texts = flow.get("texts") ?? {};
const t = texts[env.get("LANGUAGE")] ?? texts.en;
for (const station of Object.values(flow.get("stations") ?? {})) {
  // What the archive node had accepted goes on and is reported. What was on its way to it is lost with the deploy.
  station.history
    .filter(({ evidence }) => evidence === "waiting")
    .forEach((parcel) => Object.assign(parcel, { evidence: "unsure" }));
  if (["starting", "measuring", "cancelling"].includes(station.phase)) {
    station.unknown = station.phase;
    station.phase = "check";
    station.job = null;
    station.version += 1;
    station.notices += 1;
    const text = t[`unknown_${station.unknown}`].replace("{reference}", station.parcel.reference);
    const id = `${station.boot}-${station.notices}`;
    station.notice = { id, kind: "error", text, detail: t.deployed, at: Date.now() };
  }
}
