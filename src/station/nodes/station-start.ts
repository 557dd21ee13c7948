// A deploy ends a command that was on its way, and nobody hears its answer: the device may have acted. So the screen asks,
// until the cloud reports the measurement.
import { fill, type FunctionNode } from "../../dashboard/function-node.ts";
import { leaveInDoubt, say } from "../notices.ts";
import type { StationEnv, StationFlow } from "../types.ts";

export function onStart({ flow, env }: FunctionNode<StationFlow, StationEnv>) {
  const texts = flow.get("texts");
  const t = texts?.[env.get("LANGUAGE")] ?? texts?.en;
  for (const station of Object.values(flow.get("stations") ?? {})) {
    // What was on its way to the archive may be lost with the deploy. What it had accepted it would report by itself.
    station.history
      .flatMap(({ packages }) => packages)
      .filter(({ evidence, message }) => evidence === "waiting" && message)
      .forEach((one) => Object.assign(one, { isCutOff: true }));
    // A context store on disk has made two of one.
    station.parcel = station.history.find(({ id }) => id === station.parcel?.id) ?? station.parcel;
    const { phase, parcel } = station;
    if (parcel !== null && (phase === "starting" || phase === "measuring" || phase === "cancelling")) {
      leaveInDoubt(station, parcel, phase);
      station.version += 1;
      say({ now: Date.now() }, station, "error", fill(t?.[`unknown_${phase}`] ?? "", parcel), {
        reason: t?.deployed ?? "",
      });
    }
  }
}
