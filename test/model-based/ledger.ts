import assert from "node:assert/strict";
import type { Outcome } from "../../src/errors.ts";
import type { RequestRecord, Simulator } from "../../src/simulator/index.ts";
import { act, firstState, type DeviceState, type Reply } from "./device-model.ts";
import { deeds, type Deed } from "./flow-nodes.ts";
import type { NodeName } from "./steps.ts";

export interface World {
  readonly devices: DeviceState;
  readonly isOn: boolean;
}

type Change = (world: World) => World;

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
  readonly deed: Deed;
  readonly label: string;
  /** What the machine said of it; null: it never heard of it. */
  readonly reply: Reply | null;
  readonly change: Change;
}

const firstWorld: World = { devices: firstState, isOn: true };
const allDeeds = Object.values(deeds);

/**
 * Holds what was told against what arrived and what the simulated devices are now: each request belongs to one command,
 * in the order of its machine's queue; what was told of it is what happened; and a model that knows nothing but that is
 * where the simulator is. `overtakes`: a video was read, which holds up start and cancel alone.
 */
export function settleAccounts(
  sim: Simulator,
  events: readonly Event[],
  commands: readonly Command[],
  overtakes: boolean,
): void {
  let world = firstWorld;
  const course = events.flatMap((event): (Arrival | { readonly change: Change })[] => {
    const entry = "request" in event ? arrive(event.request, world) : event;
    if (entry === undefined) {
      return [];
    }
    world = entry.change(world);
    return [entry];
  });
  assert.deepEqual(stateOf(sim), world.devices, "the simulator is not where the model is");

  const believed = new Map<object, Command>();
  for (const isMine of lanesOf(overtakes)) {
    const arrivals = course.filter((one) => "deed" in one).filter((one) => isMine(one.deed));
    const told = commands.filter((one) => isMine(deedOf(one)));
    const pairs = match(
      told.filter((one) => one.told !== "not-sent"),
      arrivals,
    );
    assert.ok(pairs !== undefined, explain(told, arrivals));
    for (const [arrival, command] of pairs) {
      believed.set(arrival, command);
    }
  }

  if (commands.some(({ told }) => told === "unknown")) {
    return;
  }
  // Nothing is unknown: what the senders were told is enough to know the devices.
  let belief = firstWorld;
  for (const entry of course) {
    const told = believed.get(entry)?.told;
    if (!("deed" in entry) || told === "success" || told === "failed") {
      belief = entry.change(belief);
    }
  }
  assert.deepEqual(stateOf(sim), belief.devices, "the senders believe something else");
}

/** What a request makes of the world; undefined for one that is no command. */
function arrive(request: RequestRecord, world: World): Arrival | undefined {
  const deed = allDeeds.find(({ path }) => path === request.path);
  if (deed === undefined) {
    return undefined;
  }
  const query = new URLSearchParams(request.query.toLowerCase());
  const reference = query.get("transactionreference");
  const label = labelOf(deed, reference ?? "");
  const isUnreachable = deed.queue === "remote" && !world.isOn;
  if (!isHeard(request) || isUnreachable) {
    return { deed, label, reply: null, change: (same) => same };
  }
  const change: Change = (before) => {
    const [devices] = act(before.devices, deed.action, reference);
    return { ...before, devices };
  };
  const [, reply] = act(world.devices, deed.action, reference);
  return { deed, label, reply, change };
}

/** The names of the faults say whether the machine does what is asked. */
function isHeard({ outcome, statusCode }: RequestRecord): boolean {
  if (!outcome.startsWith("fault:")) {
    return true;
  }
  // The request before the one that dies is answered well.
  return outcome.includes("kept alive") ? statusCode !== undefined : outcome.endsWith(", done");
}

/** Commands that keep their order among each other. */
function lanesOf(overtakes: boolean): ((deed: Deed) => boolean)[] {
  const spares = ({ action }: Deed): boolean => action === "start" || action === "cancel";
  const local = (deed: Deed): boolean => deed.queue === "local";
  return [
    ({ queue }) => queue === "remote",
    ({ queue }) => queue === "earlier",
    ...(overtakes
      ? [(deed: Deed) => local(deed) && spares(deed), (deed: Deed) => local(deed) && !spares(deed)]
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
  if (labelOf(deedOf(command), command.reference) !== label) {
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
  const told = commands.map((one) => `${labelOf(deedOf(one), one.reference)}: ${one.told}`);
  const came = arrivals.map(({ label, reply }) => `${label}: ${reply ?? "not heard"}`);
  return `what arrived is not what was told, or not in its order\ntold:\n  ${told.join("\n  ")}\narrived:\n  ${came.join("\n  ")}`;
}

function deedOf({ to }: Command): Deed {
  const deed = deeds[to];
  assert.ok(deed !== undefined);
  return deed;
}

function labelOf({ path, isNamed }: Deed, reference: string): string {
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
