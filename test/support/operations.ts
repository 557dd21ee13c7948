import { CloudClient } from "../../src/cloud/client.ts";
import { DeviceClient } from "../../src/device/client.ts";
import type { ErrorCause } from "../../src/errors.ts";
import type { CommandOptions } from "../../src/http/command-sender.ts";
import type { CallOptions } from "../../src/http/transport.ts";
import type { Simulator, SurfaceName } from "../../src/simulator/index.ts";
import { secret } from "./failures.ts";

export const token = `token-${secret}`;
export const deviceCode = "ABCD2345";
const references = { transactionReference: `parcel-${secret}`, customReference1: secret };

export interface Clients {
  readonly newer: DeviceClient;
  readonly earlier: DeviceClient;
  readonly cloud: CloudClient;
  close(): Promise<unknown>;
}

/** Where the three surfaces answer. */
export type Origins = Readonly<Record<SurfaceName, { readonly origin: string }>>;

export function connectClients({ newer, earlier, cloud }: Origins, timeoutMs: number): Clients {
  const clients = {
    newer: new DeviceClient({ address: newer.origin, timeoutMs }),
    earlier: new DeviceClient({ address: earlier.origin, generation: "earlier", timeoutMs }),
    cloud: new CloudClient({ baseUrl: cloud.origin, token, timeoutMs }),
  };
  return {
    ...clients,
    close: () => Promise.all([clients.newer, clients.earlier, clients.cloud].map((one) => one.close())),
  };
}

export interface Operation<TOptions> {
  readonly surface: SurfaceName;
  /** As errors name it. */
  readonly operation: string;
  readonly path: string;
  run(clients: Clients, options?: TOptions): Promise<unknown>;
}

export interface CommandOperation extends Operation<CommandOptions> {
  readonly kind: "measure" | "video";
  /** How often the simulated machine has done it. */
  done(sim: Simulator): number;
}

/** Every call that acts on a machine. */
export const commands: readonly CommandOperation[] = [
  {
    surface: "newer",
    operation: "measure",
    kind: "measure",
    path: "/api/v1/measure",
    run: ({ newer }, options) => newer.measure(references, options),
    done: (sim) => sim.newer.actions.measures,
  },
  {
    surface: "earlier",
    operation: "measure",
    kind: "measure",
    path: "/api/measure",
    run: ({ earlier }, options) => earlier.measure(references, options),
    done: (sim) => sim.earlier.actions.measures,
  },
  {
    surface: "newer",
    operation: "video start",
    kind: "video",
    path: "/api/v1/video/start",
    run: ({ newer }, options) => newer.startVideo(references, options),
    done: (sim) => sim.newer.actions.starts,
  },
  {
    surface: "newer",
    operation: "video stop",
    kind: "video",
    path: "/api/v1/video/stop",
    run: ({ newer }, options) => newer.stopVideo(options),
    done: (sim) => sim.newer.actions.stops,
  },
  {
    surface: "newer",
    operation: "video cancel",
    kind: "video",
    path: "/api/v1/video/cancel",
    run: ({ newer }, options) => newer.cancelVideo(options),
    done: (sim) => sim.newer.actions.cancels,
  },
  {
    surface: "cloud",
    operation: "remote start",
    kind: "video",
    path: "/api/remotetrigger/startrecording",
    run: ({ cloud }, options) => cloud.startVideo(deviceCode, references, options),
    done: (sim) => sim.newer.actions.starts,
  },
  {
    surface: "cloud",
    operation: "remote stop",
    kind: "video",
    path: "/api/remotetrigger/stoprecording",
    run: ({ cloud }, options) => cloud.stopVideo(deviceCode, options),
    done: (sim) => sim.newer.actions.stops,
  },
  {
    surface: "cloud",
    operation: "remote cancel",
    kind: "video",
    path: "/api/remotetrigger/cancelrecording",
    run: ({ cloud }, options) => cloud.cancelVideo(deviceCode, options),
    done: (sim) => sim.newer.actions.cancels,
  },
  {
    surface: "cloud",
    operation: "remote measure",
    kind: "measure",
    path: "/api/remotetrigger/measure",
    run: ({ cloud }, options) => cloud.measure(deviceCode, references.transactionReference, options),
    done: (sim) => sim.newer.actions.measures,
  },
];

/** Every call that reads JSON and may be repeated, with an answer that it takes. */
export const reads: readonly (Operation<CallOptions> & { readonly answer: unknown })[] = [
  {
    surface: "newer",
    operation: "ping",
    path: "/api/v1/ping/ping",
    answer: { msg: "ping" },
    run: ({ newer }, options) => newer.ping("ping", options),
  },
  {
    surface: "earlier",
    operation: "ping",
    path: "/api/ping/ping",
    answer: { msg: "ping" },
    run: ({ earlier }, options) => earlier.ping("ping", options),
  },
  {
    surface: "cloud",
    operation: "media list",
    path: "/api/transactionmedia/905865",
    answer: [],
    run: ({ cloud }, options) => cloud.listMedia("905865", options),
  },
  {
    surface: "cloud",
    operation: "device list",
    path: "/api/deviceclients",
    answer: [],
    run: ({ cloud }, options) => cloud.devices(options),
  },
  {
    surface: "cloud",
    operation: "device",
    path: "/api/deviceClients/d1",
    answer: { id: "d1" },
    run: ({ cloud }, options) => cloud.device("d1", options),
  },
  {
    surface: "cloud",
    operation: "terminal list",
    path: "/api/terminals",
    answer: [],
    run: ({ cloud }, options) => cloud.terminals(options),
  },
  {
    surface: "cloud",
    operation: "terminal",
    path: "/api/terminals/7",
    answer: { id: 7 },
    run: ({ cloud }, options) => cloud.terminal("7", options),
  },
];

/** The surface as errors name it. */
export const surfaceNames: Readonly<Record<SurfaceName, ErrorCause["surface"]>> = {
  newer: "newer-device",
  earlier: "earlier-device",
  cloud: "cloud",
};
