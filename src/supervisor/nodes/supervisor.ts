// What the supervisor's page shows. The packing stations write their state into the global context; the other messages say how
// the store and the cloud's devices are.
import { fill, type CaughtError, type FunctionNode } from "../../dashboard/function-node.ts";
import type { FleetDevice, StoreState } from "../../model/shapes.ts";
import {
  acknowledge,
  barsOf,
  docksOf,
  openAlarms,
  problemsOf,
  rowsOf,
  sayClock,
  shownDock,
  silentDevices,
  updateAlarms,
  type Known,
} from "../supervisor.ts";
import type {
  AcknowledgeMessage,
  PageState,
  SupervisorEnv,
  SupervisorFlow,
  SupervisorGlobal,
  SupervisorNode,
} from "../types.ts";

type Given = FunctionNode<SupervisorFlow, SupervisorEnv, SupervisorGlobal, SupervisorNode>;
type Message =
  | AcknowledgeMessage
  | { readonly topic: "store"; readonly payload: StoreState; readonly error?: CaughtError }
  | {
      readonly topic: "fleet";
      readonly payload: readonly FleetDevice[];
      readonly clockAhead?: number | null;
      readonly error?: CaughtError;
    }
  | { readonly topic: "tick"; readonly error?: undefined };

export function onMessage(msg: Message, { node, context, flow, global, env, RED }: Given) {
  const language = env.get("LANGUAGE");
  const texts = flow.get("texts");
  if (texts === undefined) {
    throw new Error("The Function node “All texts” has not run.");
  }
  const t = texts[language] ?? texts.en;
  const kept = flow.get("supervisor") ?? { alarms: {}, log: [], store: null, fleet: null };
  const before: Known = {
    now: Date.now(),
    t,
    language,
    limits: {
      oldestJobMinutes: Number(env.get("OLDEST_JOB")),
      freeGigabytes: Number(env.get("FREE_SPACE")),
      silentAfterSeconds: Number(env.get("SILENT_AFTER")),
      stoppedAfterMs: 1000 * Number(env.get("STOPPED_AFTER")),
      clocksApartSeconds: Number(env.get("CLOCKS_APART")),
    },
    tabs: global.get("packingStations") ?? {},
    kept,
  };
  let { tabs } = before;
  // A question that a deploy has ended says nothing of the store or the cloud, and the next one follows.
  const isCut = msg.error?.code === "ERR_CANCELLED";
  if (msg.topic === "acknowledge") {
    tabs = acknowledge(before, msg.payload);
    global.set("packingStations", { ...tabs });
  } else if (msg.topic === "store" && !isCut) {
    kept.store = msg.error ? { problem: msg.error.message } : msg.payload;
  } else if (msg.topic === "fleet" && !isCut) {
    kept.fleet = msg.error
      ? { problem: msg.error.message }
      : { devices: msg.payload, clockAhead: msg.clockAhead ?? null };
  }

  const known = { ...before, tabs };
  const docks = docksOf(known);
  const begun = updateAlarms(known, problemsOf(known, docks), () => RED.util.generateId());
  flow.set("supervisor", kept);
  const alarms = openAlarms(known);
  const payload: PageState = {
    now: known.now,
    texts: t,
    language,
    docks: docks.map((dock) => shownDock(known, dock)),
    store: kept.store,
    silent: silentDevices(known)?.map(({ name }) => name) ?? null,
    cloudClock: sayClock(
      known,
      kept.fleet !== null && "clockAhead" in kept.fleet ? kept.fleet.clockAhead : null,
    ),
    alarms,
    log: kept.log,
  };
  const open = alarms.filter(({ by }) => by === "").length;
  node.status({
    fill: open > 0 ? "red" : "green",
    shape: open > 0 ? "ring" : "dot",
    text: fill(t.status, { count: open }),
  });

  const sent = context.get("sent") ?? {};
  /** The same again would make the table and the charts draw themselves again. */
  const ifChanged = <TMessage extends object>(name: string, message: TMessage): TMessage | null => {
    const text = JSON.stringify(message);
    const isNew = sent[name] !== text;
    sent[name] = text;
    return isNew ? message : null;
  };
  // A chart that a deploy makes anew in the browser does not hear what comes meanwhile, and nothing else gives it its title: the first
  // answers about the store bring it again.
  const answers = Math.min(3, (context.get("answers") ?? 0) + Number(msg.topic === "store"));
  context.set("answers", answers);
  const titleOf = (chart: string, text: string) =>
    ifChanged(`title of ${chart} ${answers}`, { ui_update: { chartOptions: { title: { text } } } });
  const jobs =
    msg.topic === "store" && !msg.error ? { topic: t.openJobs, payload: msg.payload.openJobs } : null;
  const outputs = [
    { topic: "state", payload },
    begun,
    ifChanged("rows", { payload: rowsOf(known, docks) }),
    [titleOf("bars", t.parcelsByHour), ifChanged("bars", { payload: barsOf(known, docks) })],
    [titleOf("jobs", t.jobsByTime), jobs],
  ];
  context.set("sent", sent);
  return outputs;
}
