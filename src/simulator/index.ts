import { cloudService } from "./cloud.ts";
import { startControl } from "./control.ts";
import { cloudFacade, earlierFacade, newerFacade } from "./facades.ts";
import { startFaultServer } from "./fault-server.ts";
import { createFaultBook } from "./faults.ts";
import type { FrontDoor } from "./front-door.ts";
import { newerDevice } from "./newer-device.ts";
import { completeOptions, type StartOptions } from "./options.ts";
import { createRequestLog, type SurfaceName } from "./requests.ts";
import { createShowcase } from "./showcase.ts";
import type { Listening, Simulator } from "./simulator.ts";
import { createWorld, type World } from "./world.ts";

export { MODES, type Mode, type SimulatorOptions, type StartOptions, type Webhook } from "./options.ts";
export type { Fault, FaultRule } from "./fault-types.ts";
export type { ListedFault } from "./faults.ts";
export type { RequestRecord, SurfaceName } from "./requests.ts";
export type { NewMedia, Simulator, SimulatorEvent } from "./simulator.ts";
export type { CustomParcel } from "./table.ts";

function handlersOf(world: World): Readonly<Record<SurfaceName, ReturnType<typeof newerDevice>>> {
  const { fleet, earlier, options } = world;
  return {
    newer: newerDevice(fleet.newer, options, () => world.localApi),
    earlier: (request) => earlier.handle(request),
    cloud: cloudService(world),
  };
}

function listening(host: string, door: Pick<FrontDoor, "port" | "connections">, secure: boolean): Listening {
  const address = host.includes(":") ? `[${host}]` : host;
  return {
    origin: `${secure ? "https" : "http"}://${address}:${door.port}`,
    port: door.port,
    get connections() {
      return door.connections;
    },
  };
}

/**
 * Starts a newer device, an earlier device, a cloud and a control port, by default on free ports of 127.0.0.1.
 * Rejects when a port is taken or an option can't work; nothing is left open then.
 */
export async function startSimulator(given: StartOptions = {}): Promise<Simulator> {
  const options = completeOptions(given);
  const { host, ports } = options;
  const world = createWorld(options);
  const { fleet, timers, events, depot } = world;
  const log = createRequestLog(options.keepRequests);
  const handlers = handlersOf(world);
  const doors = new Map<SurfaceName, FrontDoor>();
  const open: { close(): Promise<void> }[] = [];

  const faults = createFaultBook(timers.after, () => events.emit({ type: "state" }));
  function setDoors(): void {
    for (const [surface, door] of doors) {
      door.setOpen(!faults.refuses(surface) && (surface !== "newer" || fleet.powered));
    }
  }
  events.on(({ type }) => {
    if (type === "state") {
      setDoors();
    }
  });

  async function openSurface(surface: SurfaceName): Promise<Listening> {
    const secure = surface === "cloud" && options.tls !== undefined;
    const door = await startFaultServer({
      surface,
      host,
      log,
      faults,
      timers,
      port: ports[surface],
      handler: handlers[surface],
      tls: secure ? options.tls : undefined,
      chunked: surface !== "cloud" && options.chunkedBodies,
    });
    doors.set(surface, door);
    open.push(door);
    return listening(host, door, secure);
  }

  async function close(): Promise<void> {
    world.close();
    log.close();
    await Promise.all(open.map((one) => one.close()));
  }

  try {
    const newer = newerFacade(world, await openSurface("newer"));
    const earlier = earlierFacade(world, await openSurface("earlier"));
    const cloud = cloudFacade(world, await openSurface("cloud"));
    const control = await startControl(host, ports.control, timers, createShowcase(world), () => simulator);
    open.push(control);
    const simulator: Simulator = {
      options,
      newer,
      earlier,
      cloud,
      faults,
      close,
      control: listening(host, control, false),
      parcels: depot.names,
      requests: log.all,
      requestsTo: (surface, pathPrefix) => log.to(surface, pathPrefix),
      onRequest: (listener) => log.onRequest(listener),
      onSettled: (listener) => log.onSettled(listener),
      nextRequest: (fits) => log.next(fits),
      settled: ({ id }) => log.settled(id),
      onEvent: (listener) => events.on(listener),
      nextEvent: (fits) => events.next(fits),
      reset() {
        faults.clear();
        world.reset();
        log.clear();
        events.emit({ type: "reset" });
      },
    };
    return simulator;
  } catch (error) {
    await close();
    throw error;
  }
}
