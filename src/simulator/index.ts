import { cloudService } from "./cloud.ts";
import { createPageMedia, startControl } from "./control.ts";
import { simulatedCloud, simulatedEarlierDevice, simulatedNewerDevice } from "./public-api.ts";
import { startFaultServer } from "./fault-server.ts";
import { createFaultRules } from "./faults.ts";
import type { PortListener } from "./port-listener.ts";
import { newerDevice } from "./devices.ts";
import { completeOptions, type StartOptions } from "./options.ts";
import { createRequestLog, type SurfaceName } from "./requests.ts";
import { openScanner } from "./scanner.ts";
import type { Listening, Simulator } from "./simulator.ts";
import { createCore, type SimulatorCore } from "./core.ts";

export { modes, type Mode, type SimulatorOptions, type StartOptions, type Webhook } from "./options.ts";
export type { Fault, FaultRule } from "./faults.ts";
export type { ListedFault } from "./faults.ts";
export type { RequestRecord, SurfaceName } from "./requests.ts";
export type { NewMedia, Simulator, SimulatorEvent } from "./simulator.ts";
export type { CustomParcel } from "./parcels.ts";
export type { ScanCommand, ScannerOptions, ScannerSettings, SentScan, Symbology } from "./scanner-types.ts";

function handlersOf(core: SimulatorCore): Readonly<Record<SurfaceName, ReturnType<typeof newerDevice>>> {
  const { devices, earlier, options } = core;
  return {
    newer: newerDevice(devices.newer, options, () => core.localApi),
    earlier: (request) => earlier.handle(request),
    cloud: cloudService(core),
  };
}

function listening(
  host: string,
  listener: Pick<PortListener, "port" | "connections">,
  secure: boolean,
): Listening {
  const address = host.includes(":") ? `[${host}]` : host;
  return {
    origin: `${secure ? "https" : "http"}://${address}:${listener.port}`,
    port: listener.port,
    get connections() {
      return listener.connections;
    },
  };
}

/**
 * Starts a newer device, an earlier device, a cloud, a scanner and a control port, by default on free ports of
 * 127.0.0.1. Rejects if a port is taken or an option is not valid; nothing is left open then.
 */
export async function startSimulator(given: StartOptions = {}): Promise<Simulator> {
  const options = completeOptions(given);
  const { host, ports } = options;
  const core = createCore(options);
  const { devices, timers, events, parcels } = core;
  const log = createRequestLog({ entries: options.keepRequests, bytes: options.keepBytes });
  const handlers = handlersOf(core);
  const listeners = new Map<SurfaceName, PortListener>();
  const open: { close(): Promise<void> }[] = [];

  const faults = createFaultRules(timers.after, () => events.emit({ type: "state" }));
  function updateListeners(): void {
    for (const [surface, listener] of listeners) {
      listener.setListening(!faults.refuses(surface) && (surface !== "newer" || devices.powered));
    }
  }
  events.on(({ type }) => {
    if (type === "state") {
      updateListeners();
    }
  });

  async function openSurface(surface: SurfaceName): Promise<Listening> {
    const secure = surface === "cloud" && options.tls !== undefined;
    const listener = await startFaultServer({
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
    listeners.set(surface, listener);
    open.push(listener);
    return listening(host, listener, secure);
  }

  async function close(): Promise<void> {
    core.close();
    log.close();
    await Promise.all(open.map((one) => one.close()));
  }

  try {
    const newer = simulatedNewerDevice(core, await openSurface("newer"));
    const earlier = simulatedEarlierDevice(core, await openSurface("earlier"));
    const cloud = simulatedCloud(core, await openSurface("cloud"));
    const scanner = await openScanner({
      host,
      timers,
      port: ports.scanner,
      options: options.scanner,
      parcelOn: (device) => (device === "newer" ? devices.newer : core.earlier).state.parcel,
      changed: () => events.emit({ type: "state" }),
    });
    open.push(scanner);
    const control = await startControl(host, ports.control, timers, createPageMedia(core), () => simulator);
    open.push(control);
    const simulator: Simulator = {
      options,
      newer,
      earlier,
      cloud,
      scanner,
      faults,
      close,
      control: listening(host, control, false),
      parcels: parcels.names,
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
        core.reset();
        scanner.reset();
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
