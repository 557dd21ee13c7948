import * as v from "valibot";

import { catalogueParcels } from "./catalogue/parcels.ts";
import { faultRuleSchema } from "./fault-kinds.ts";
import { deviceButtons } from "./machine-types.ts";
import { dimsUnits, modes } from "./options.ts";
import { surfaces } from "./requests.ts";
import { scanCommand, scannerSettings } from "./scanner-bodies.ts";
import type { Simulator } from "./simulator.ts";

/** The response of a route. */
export interface Reply {
  readonly status: number;
  readonly body?: unknown;
}

/** A request that the control port refuses; the message is for its sender. */
export class ControlError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.name = "ControlError";
    this.status = status;
  }
}

/** A century. Times far beyond it cannot be written. */
const longestClockMs = 100 * 366 * 24 * 3_600_000;
const size = v.pipe(v.number(), v.minValue(0));
const wholeNumber = v.pipe(v.string(), v.regex(/^\d{1,15}$/), v.transform(Number));

const onOff = v.strictObject({ on: v.boolean() });
const parcelBody = v.strictObject({
  device: v.optional(v.picklist(["newer", "earlier"]), "newer"),
  parcel: v.nullable(
    v.union([
      v.string(),
      v.strictObject({
        lengthCm: size,
        widthCm: size,
        heightCm: size,
        weightKg: size,
        barcode: v.exactOptional(v.string()),
        rotationAngle: v.exactOptional(v.number()),
        errorCode: v.exactOptional(v.number()),
        errorMessage: v.exactOptional(v.string()),
      }),
    ]),
  ),
});
const mediaBody = v.strictObject({
  transactionId: v.pipe(v.string(), v.nonEmpty()),
  contentType: v.pipe(v.string(), v.nonEmpty(), v.toLowerCase()),
  description: v.exactOptional(v.string()),
  generateBytes: v.pipe(v.number(), v.integer(), v.minValue(0)),
});
const recordsBody = v.strictObject({
  clockAheadMs: v.exactOptional(
    v.pipe(v.number(), v.integer(), v.minValue(-longestClockMs), v.maxValue(longestClockMs)),
  ),
  customReferences: v.exactOptional(v.boolean()),
  dimsUnit: v.exactOptional(v.nullable(v.picklist(dimsUnits))),
});
const pressBody = v.variant("device", [
  v.strictObject({ device: v.literal("newer"), button: v.picklist(deviceButtons) }),
  v.strictObject({ device: v.literal("earlier"), button: v.literal("measure") }),
]);
const recentQuery = v.object({ recent: v.optional(wholeNumber, "0") });
const requestsQuery = v.object({
  surface: v.optional(v.picklist(surfaces)),
  path: v.optional(v.string(), ""),
  since: v.optional(wholeNumber, "0"),
  limit: v.optional(wholeNumber, "1000"),
});

function decode<const S extends v.GenericSchema>(schema: S, value: unknown): v.InferOutput<S> {
  const result = v.safeParse(schema, value);
  if (result.success) {
    return result.output;
  }
  const [issue] = result.issues;
  const where = v.getDotPath(issue);
  throw new ControlError(400, where === null ? issue.message : `${where}: ${issue.message}`);
}

/** How many past events a client of the event stream requests. */
export function recentWanted(query: URLSearchParams): number {
  return decode(recentQuery, Object.fromEntries(query)).recent;
}

/** The state of the simulator as JSON. */
export function stateOf(sim: Simulator): Record<string, unknown> {
  const { newer, earlier, cloud, scanner } = sim;
  return {
    now: new Date(),
    newer: {
      origin: newer.origin,
      powered: newer.powered,
      localApi: newer.localApi,
      ...newer.state,
      actions: newer.actions,
    },
    earlier: { origin: earlier.origin, ...earlier.state, actions: earlier.actions },
    cloud: {
      origin: cloud.origin,
      token: cloud.token,
      deviceCode: sim.options.deviceCode,
      devices: cloud.devices.length,
      simulationMode: cloud.simulationMode,
      records: cloud.records,
      transactions: cloud.transactions.length,
    },
    scanner: {
      host: scanner.host,
      port: scanner.port,
      on: scanner.on,
      connections: scanner.connections,
      settings: scanner.settings,
      last: scanner.last,
    },
    parcels: sim.parcels,
    faults: sim.faults.list(),
  };
}

export type Route = (sim: Simulator, query: URLSearchParams, body: unknown) => Reply | Promise<Reply>;

const done: Reply = { status: 204 };

function put<const S extends v.GenericSchema>(
  schema: S,
  act: (sim: Simulator, body: v.InferOutput<S>) => void,
): Route {
  return (sim, _query, body) => {
    act(sim, decode(schema, body));
    return done;
  };
}

function requests(sim: Simulator, query: URLSearchParams): Reply {
  const { surface, path, since, limit } = decode(requestsQuery, Object.fromEntries(query));
  const fits = sim.requests.filter(
    (one) =>
      one.id > since && (surface === undefined || one.surface === surface) && one.path.startsWith(path),
  );
  return { status: 200, body: limit === 0 ? [] : fits.slice(-limit) };
}

/** Images and videos; their ids are in the state and in the lists. */
const fileRoutes = [
  "GET /catalogue/{parcel}/{color|annotated|depth|video|label}",
  "GET /images/{imageIdentifier}/{color|annotated|depth}",
  "GET /video/{recordingId}",
  "GET /media/{transactionId}/{contentId}",
];

/** Routes by `METHOD /path`; `DELETE /faults/{id}` and `GET /events` are handled in control.ts. */
export const controlRoutes: Readonly<Record<string, Route>> = {
  "GET /": () => ({
    status: 200,
    body: {
      name: "dimensioner simulator",
      routes: [...Object.keys(controlRoutes), "DELETE /faults/{id}", "GET /events", ...fileRoutes],
    },
  }),
  "GET /catalogue": () => ({ status: 200, body: catalogueParcels }),
  "GET /state": (sim) => ({ status: 200, body: stateOf(sim) }),
  "GET /requests": requests,
  "GET /transactions": (sim) => ({ status: 200, body: sim.cloud.transactions }),
  "GET /webhooks": (sim) => ({ status: 200, body: sim.cloud.webhookPosts }),
  "GET /faults": (sim) => ({ status: 200, body: sim.faults.list() }),
  "POST /faults": (sim, _query, body) => ({
    status: 201,
    body: { id: sim.faults.add(decode(faultRuleSchema, body)) },
  }),
  "DELETE /faults": (sim) => {
    sim.faults.clear();
    return done;
  },
  "POST /mode": put(v.strictObject({ mode: v.picklist(modes) }), (sim, { mode }) => sim.newer.setMode(mode)),
  "POST /parcel": put(parcelBody, (sim, { device, parcel }) => {
    if (typeof parcel === "string" && !sim.parcels.includes(parcel)) {
      throw new ControlError(
        400,
        `parcel: there is no "${parcel}"; the catalogue has ${sim.parcels.join(", ")}`,
      );
    }
    sim[device].setParcel(parcel);
  }),
  "POST /scan": async (sim, _query, body) => {
    const { barcode } = decode(v.strictObject({ barcode: v.pipe(v.string(), v.nonEmpty()) }), body);
    return { status: 200, body: { did: await sim.newer.scanAtDevice(barcode) } };
  },
  "POST /press": async (sim, _query, body) => {
    const press = decode(pressBody, body);
    if (press.device === "newer") {
      return { status: 200, body: { did: await sim.newer.pressAtDevice(press.button) } };
    }
    await sim.earlier.measureAtDevice();
    return { status: 200, body: { did: "measured" } };
  },
  "POST /scanner": put(scannerSettings, (sim, { on, ...settings }) => {
    sim.scanner.set(settings);
    if (on !== undefined) {
      sim.scanner.setPower(on);
    }
  }),
  "POST /scanner/scan": async (sim, _query, body) => ({
    status: 200,
    body: await sim.scanner.scan(decode(v.optional(scanCommand, {}), body)),
  }),
  "POST /power": put(onOff, (sim, { on }) => sim.newer.setPower(on)),
  "POST /local-api": put(onOff, (sim, { on }) => sim.newer.setLocalApi(on)),
  "POST /legal-for-trade": put(onOff, (sim, { on }) => sim.earlier.setLegalForTrade(on)),
  "POST /simulation-mode": put(onOff, (sim, { on }) => sim.cloud.setSimulationMode(on)),
  "POST /records": put(recordsBody, (sim, changes) => sim.cloud.setRecords(changes)),
  "POST /media": (sim, _query, body) => {
    const { transactionId, ...media } = decode(mediaBody, body);
    return { status: 201, body: sim.cloud.addMedia(transactionId, media) };
  },
  "POST /reset": put(v.optional(v.strictObject({})), (sim) => sim.reset()),
};
