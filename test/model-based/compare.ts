import assert from "node:assert/strict";
import type { Outcome } from "../../src/errors/dimensioner-error.ts";
import type { RequestRecord, Simulator } from "../../src/simulator/index.ts";
import { act, firstState, type DeviceState, type Reply } from "./device-model.ts";
import { routes, type CommandRoute } from "./flow-nodes.ts";
import type { NodeName } from "./steps.ts";

export interface ModelState {
  readonly devices: DeviceState;
  readonly isOn: boolean;
}

type Change = (state: ModelState) => ModelState;

/** What happened, in the order in which it did: a request, or something that no request asked for. */
export type Event = { readonly request: RequestRecord } | { readonly change: Change };

/** A command and what its sender was told. */
export interface Command {
  readonly to: NodeName;
  readonly reference: string;
  readonly told: Outcome | "success";
}

/** A request of a command that has reached the simulator. */
interface Arrival {
  readonly route: CommandRoute;
  readonly label: string;
  /** The device's reply; null if the device did not receive the request. */
  readonly reply: Reply | null;
  readonly change: Change;
}

const firstModelState: ModelState = { devices: firstState, isOn: true };
const allRoutes = Object.values(routes);

/**
 * Compares what the senders were told with the requests that arrived and with the state of the simulated devices: each
 * request belongs to one command, in the order of its device's queue; it ended as its sender was told; and a model that
 * knows only the requests has the state of the simulator. `overtakes`: a video was read, which delays start and cancel, and a stop
 * behind them, but no measure.
 */
export function compareWithModel(
  sim: Simulator,
  events: readonly Event[],
  commands: readonly Command[],
  overtakes: boolean,
): void {
  let state = firstModelState;
  const entries = events.flatMap((event): (Arrival | { readonly change: Change })[] => {
    const entry = "request" in event ? arrive(event.request, state) : event;
    if (entry === undefined) {
      return [];
    }
    state = entry.change(state);
    return [entry];
  });
  assert.deepEqual(stateOf(sim), state.devices, "the simulator and the model differ in their state");

  const commandOf = new Map<object, Command>();
  for (const isMine of queuesOf(overtakes)) {
    const arrivals = entries.filter((one) => "route" in one).filter((one) => isMine(one.route));
    const told = commands.filter((one) => isMine(routeOf(one)));
    const pairs = match(
      told.filter((one) => one.told !== "not-sent"),
      arrivals,
    );
    assert.ok(pairs !== undefined, explain(told, arrivals));
    for (const [arrival, command] of pairs) {
      commandOf.set(arrival, command);
    }
  }

  if (commands.some(({ told }) => told === "unknown")) {
    return;
  }
  // No outcome is unknown, so what the senders were told has to lead to the same state.
  let expected = firstModelState;
  for (const entry of entries) {
    const told = commandOf.get(entry)?.told;
    if (!("route" in entry) || told === "success" || told === "failed") {
      expected = entry.change(expected);
    }
  }
  assert.deepEqual(stateOf(sim), expected.devices, "the senders were told something else");
}

/** What a request makes of the state; undefined for one that is no command. */
function arrive(request: RequestRecord, state: ModelState): Arrival | undefined {
  const route = allRoutes.find(({ path }) => path === request.path);
  if (route === undefined) {
    return undefined;
  }
  const query = new URLSearchParams(request.query.toLowerCase());
  const reference = query.get("transactionreference");
  const label = labelOf(route, reference ?? "");
  const isUnreachable = route.queue === "remote" && !state.isOn;
  if (!isReceived(request) || isUnreachable) {
    return { route, label, reply: null, change: (same) => same };
  }
  const change: Change = (before) => {
    const [devices] = act(before.devices, route.action, reference);
    return { ...before, devices };
  };
  const [, reply] = act(state.devices, route.action, reference);
  return { route, label, reply, change };
}

/** Whether the device receives the request, by the name of the fault. */
function isReceived({ outcome, statusCode }: RequestRecord): boolean {
  if (!outcome.startsWith("fault:")) {
    return true;
  }
  // The request before the one that dies is answered well.
  return outcome.includes("kept alive") ? statusCode !== undefined : outcome.endsWith(", done");
}

/** Commands that keep their order among each other. */
function queuesOf(overtakes: boolean): ((route: CommandRoute) => boolean)[] {
  const measures = ({ action }: CommandRoute): boolean => action === "measure";
  const local = (route: CommandRoute): boolean => route.queue === "local";
  return [
    ({ queue }) => queue === "remote",
    ({ queue }) => queue === "earlier",
    ...(overtakes
      ? [
          (route: CommandRoute) => local(route) && measures(route),
          (route: CommandRoute) => local(route) && !measures(route),
        ]
      : [local]),
  ];
}

/**
 * Gives each request to a command, both in their order. One whose outcome is unknown may have no request; all others
 * have one, and it went as they were told.
 */
function match(commands: readonly Command[], arrivals: readonly Arrival[]): [Arrival, Command][] | undefined {
  const [command, ...laterCommands] = commands;
  const [arrival, ...laterArrivals] = arrivals;
  if (command === undefined) {
    return arrival === undefined ? [] : undefined;
  }
  if (arrival !== undefined && fits(command, arrival)) {
    const rest = match(laterCommands, laterArrivals);
    if (rest !== undefined) {
      return [[arrival, command], ...rest];
    }
  }
  return command.told === "unknown" ? match(laterCommands, arrivals) : undefined;
}

function fits(command: Command, { label, reply }: Arrival): boolean {
  if (labelOf(routeOf(command), command.reference) !== label) {
    return false;
  }
  switch (command.told) {
    case "success":
      return reply === "done";
    case "failed":
      return reply === "failed";
    case "refused":
      return reply === "refused" || reply === null;
    case "unknown":
      return true;
    case "not-sent":
      return false;
  }
}

function explain(commands: readonly Command[], arrivals: readonly Arrival[]): string {
  const told = commands.map((one) => `${labelOf(routeOf(one), one.reference)}: ${one.told}`);
  const came = arrivals.map(({ label, reply }) => `${label}: ${reply ?? "not heard"}`);
  return `what arrived is not what was told, or not in its order\ntold:\n  ${told.join("\n  ")}\narrived:\n  ${came.join("\n  ")}`;
}

function routeOf({ to }: Command): CommandRoute {
  const route = routes[to];
  assert.ok(route !== undefined);
  return route;
}

function labelOf({ path, isNamed }: CommandRoute, reference: string): string {
  return isNamed ? `${path} ${reference}` : path;
}

/** The simulator's devices in the model's terms. */
function stateOf({ newer, earlier }: Simulator): DeviceState {
  const { mode, recording, savedVideo, parcel } = newer.state;
  return {
    ...newer.actions,
    mode,
    isTableEmpty: parcel === null,
    recording: recording?.references.transactionReference ?? null,
    saved: savedVideo?.references.transactionReference ?? null,
    savedWaits: savedVideo?.waitsForMeasurement ?? false,
    earlierMeasures: earlier.actions.measures,
  };
}
