// What happens at each station, and what its screens show. Each station packs one parcel at a time, in one of these phases: idle,
// asking (others know something of the parcel), question (the packer has to say), starting, recording, measuring, measured, cancelling, and check: nobody knows whether the device has acted.
import type { FunctionNode } from "../../dashboard/function-node.ts";
import { followClock } from "../clock.ts";
import { published } from "../screens.ts";
import type { Run } from "../state.ts";
import { receive } from "../station.ts";
import type { StationEnv, StationFlow, StationGlobal, StationMessage } from "../types.ts";

type Given = FunctionNode<StationFlow, StationEnv, StationGlobal> & {
  readonly crypto: { randomUUID(): string };
  readonly perf_hooks: { readonly performance: { readonly timeOrigin: number; now(): number } };
};

export function onMessage(msg: StationMessage, { node, flow, global, env, RED, crypto, perf_hooks }: Given) {
  const now = Date.now();
  const language = env.get("LANGUAGE");
  const texts = flow.get("texts");
  if (texts === undefined) {
    throw new Error("The Function node “All texts” has not run.");
  }
  const run: Run = {
    now,
    settings: {
      places: env.get("STATIONS"),
      language,
      withSignIn: env.get("SIGN_IN") === true,
      badge: env.get("BADGE"),
      badgeExample: env.get("BADGE_EXAMPLE"),
      asksIfPacked: env.get("ASK_IF_PACKED") !== false,
      asks: env.get("ASK").trim(),
      askWithinMs: 1000 * Number(env.get("ASK_WITHIN")),
      readsAloud: env.get("READ_ALOUD") === true,
      ignoreRepeatsMs: 1000 * Number(env.get("IGNORE_REPEATS")),
      forgottenAfterMs: 1000 * Number(env.get("FORGOTTEN_AFTER")),
      answerWithinMs: 1000 * Number(env.get("ANSWER_WITHIN")),
    },
    t: texts[language] ?? texts.en,
    stations: flow.get("stations") ?? {},
    peers: flow.get("peers") ?? {},
    clouds: flow.get("clouds") ?? {},
    proof: flow.get("proof") ?? crypto.randomUUID(),
    newId: () => RED.util.generateId(),
    clone: (message) => RED.util.cloneMessage(message),
    changed: new Set(),
    out: {
      screen: [],
      video: [],
      measure: [],
      done: [],
      chart: [],
      evidence: [],
      find: [],
      ask: [],
      name: [],
      picture: [],
    },
  };
  const { stations, peers, clouds, proof, out } = run;
  const { performance } = perf_hooks;
  const clock = { at: now, steady: performance.now(), origin: performance.timeOrigin };
  followClock(stations, flow.get("clock"), clock);
  flow.set("clock", clock);
  flow.set("proof", proof);
  if (!receive(run, msg)) {
    return null;
  }
  flow.set("stations", stations);
  // The supervisor's page, example 31, reads the stations of all tabs.
  const tab = { tab: env.get("NR_FLOW_NAME"), at: now, stations: published(run) };
  global.set("packingStations", { ...global.get("packingStations"), [env.get("NR_FLOW_ID")]: tab });
  flow.set("peers", peers);
  flow.set("clouds", clouds);
  const phases = Object.values(stations).map((one) => `${one.name}: ${one.phase}`);
  node.status({ text: phases.join(", ").slice(0, 60) });
  return [
    out.screen,
    out.video,
    out.measure,
    out.done,
    out.chart,
    out.evidence,
    out.find,
    out.ask,
    out.name,
    out.picture,
  ];
}
