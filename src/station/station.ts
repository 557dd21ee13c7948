import { answered } from "./begin.ts";
import { didInput } from "./packer.ts";
import { failed, filmed, followed, measured, reported } from "./results.ts";
import { cloudAnswered, greeted, heardFrom, noted, showChanges, ticked } from "./screens.ts";
import { isBusy, stationNamed, type Run } from "./state.ts";
import type { StationMessage } from "./types.ts";

/**
 * What happens at the stations because of a message. Messages come from the screens, from the nodes that work, and from the Catch and
 * Status nodes; `topic` says which. Returns false if the message has nothing to say here.
 */
export function receive(run: Run, msg: StationMessage): boolean {
  const { changed } = run;
  switch (msg.topic) {
    case "status":
      // The status of this node comes here, too: a status in answer to it would be followed by the next one without end.
      if (msg.status.source.type !== "dimensioner-device") {
        return false;
      }
      noted(run, msg);
      break;
    case "cloud":
      cloudAnswered(run, msg);
      break;
    case "record":
      reported(run, msg.payload);
      break;
    case "tick":
      Object.values(run.stations).forEach((one) => ticked(run, one));
      break;
    default:
      if (!receiveOf(run, msg)) {
        return false;
      }
  }
  showChanges(run);
  changed.clear();
  return true;
}

/** A message about one station. */
function receiveOf(run: Run, msg: Extract<StationMessage, { readonly station: string | null }>): boolean {
  const { now, settings, t, proof, changed, out } = run;
  const station = stationNamed(run, msg.station);
  if (station === undefined) {
    // The address of the page names no station, or one that was removed: the page has to say so.
    if ("_client" in msg) {
      const payload = { texts: t, language: settings.language, stations: Object.keys(settings.places) };
      out.screen.push({ topic: "unknown", station: msg.station, payload, _client: msg._client });
    }
    return "_client" in msg;
  }
  if (msg.topic === "hello") {
    greeted(run, station, msg);
    return true;
  }
  if (msg.topic === "scan" || msg.topic === "button") {
    changed.add(station);
    // The screen repeats what was not confirmed, during a deploy for instance; it counts once, and never late.
    if (!station.inputs.includes(msg.input) && now - msg.at <= 10_000) {
      station.inputs = [msg.input, ...station.inputs].slice(0, 20);
      didInput(run, station, msg);
    }
    return true;
  }
  // Dashboard lets a browser send a message from any node. What the nodes report of a command or its evidence has to bring back
  // what only this flow knows.
  if (msg.proof !== proof) {
    return false;
  }
  changed.add(station);
  if (msg.topic === "packed" || msg.topic === "said") {
    answered(run, station, msg);
    return true;
  }
  if (msg.topic !== "video" && msg.topic !== "measure") {
    followed(run, station, msg);
    return true;
  }
  heardFrom(run, station, msg.error);
  if (!msg.error) {
    (msg.topic === "video" ? filmed : measured)(run, station, msg);
  } else if (msg.job === station.job && isBusy(station.phase)) {
    // Nothing but the device itself says why it could not measure.
    const { errorMessage } = { ...msg.payload };
    failed(run, station, station.phase, msg.error, errorMessage ?? "");
  }
  return true;
}
