import { CloudClient } from "../../src/cloud/client.ts";
import { DeviceClient } from "../../src/device/client.ts";
import type { ErrorDetails } from "../../src/errors/dimensioner-error.ts";
import type { TlsOptions } from "../../src/http/connections.ts";
import type { CallOptions, CommandOptions } from "../../src/http/transport.ts";
import type { Download } from "../../src/model/download.ts";
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

export function connectClients(
  { newer, earlier, cloud }: Origins,
  timeoutMs: number,
  tls?: TlsOptions,
): Clients {
  const clients = {
    newer: new DeviceClient({ address: newer.origin, timeoutMs }),
    earlier: new DeviceClient({ address: earlier.origin, generation: "earlier", timeoutMs }),
    cloud: new CloudClient({ baseUrl: cloud.origin, token, timeoutMs, tls }),
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
  /** What the path begins with; of a command all of it. */
  readonly path: string;
  run(clients: Clients, options?: TOptions): Promise<unknown>;
}

export interface CommandOperation extends Operation<CommandOptions> {
  readonly kind: "measure" | "video";
  /** How often the simulated device has executed the command. */
  done(sim: Simulator): number;
}

/** Every call that acts on a device. */
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

export interface ReadOperation extends Operation<CallOptions> {
  readonly kind: "read";
  /** The id of what is asked for, where it needs one. */
  run(clients: Clients, options?: CallOptions, id?: string): Promise<unknown>;
}

/** Every call that reads JSON and may be repeated. */
export const reads: readonly ReadOperation[] = [
  {
    surface: "newer",
    operation: "ping",
    kind: "read",
    path: "/api/v1/ping/ping",
    run: ({ newer }, options) => newer.ping("ping", options),
  },
  {
    surface: "earlier",
    operation: "ping",
    kind: "read",
    path: "/api/ping/ping",
    run: ({ earlier }, options) => earlier.ping("ping", options),
  },
  {
    surface: "cloud",
    operation: "media list",
    kind: "read",
    path: "/api/transactionmedia/905865",
    run: ({ cloud }, options) => cloud.listMedia("905865", options),
  },
  {
    surface: "cloud",
    operation: "device list",
    kind: "read",
    path: "/api/deviceclients",
    run: ({ cloud }, options) => cloud.devices(options),
  },
  {
    surface: "cloud",
    operation: "device",
    kind: "read",
    path: "/api/deviceClients/",
    run: ({ cloud }, options, id = "d1") => cloud.device(id, options),
  },
  {
    surface: "cloud",
    operation: "terminal list",
    kind: "read",
    path: "/api/terminals",
    run: ({ cloud }, options) => cloud.terminals(options),
  },
  {
    surface: "cloud",
    operation: "terminal",
    kind: "read",
    path: "/api/terminals/",
    run: ({ cloud }, options, id = "7") => cloud.terminal(id, options),
  },
];

export interface DownloadOperation {
  readonly surface: SurfaceName;
  readonly operation: string;
  readonly kind: "download";
  readonly path: string;
  start(clients: Clients, id: string, waitMs: number): Promise<Download>;
}

/** Every call that brings a picture or a video; the cloud's are those of transaction 905865. */
export const downloads: readonly DownloadOperation[] = [
  {
    surface: "newer",
    operation: "image",
    kind: "download",
    path: "/api/v1/image/color/",
    start: ({ newer }, id) => newer.image("color", id),
  },
  {
    surface: "newer",
    operation: "video",
    kind: "download",
    path: "/api/v1/video/download",
    start: ({ newer }, _id, waitMs) => newer.video("download", { waitMs }),
  },
  {
    surface: "newer",
    operation: "video",
    kind: "download",
    path: "/api/v1/video/stream",
    start: ({ newer }, _id, waitMs) => newer.video("stream", { waitMs }),
  },
  {
    surface: "cloud",
    operation: "media",
    kind: "download",
    path: "/api/transactionmedia/905865/",
    start: ({ cloud }, id) => cloud.media("905865", id),
  },
];

/** The surface as errors name it. */
export const surfaceNames: Readonly<Record<SurfaceName, ErrorDetails["surface"]>> = {
  newer: "newer-device",
  earlier: "earlier-device",
  cloud: "cloud",
};
