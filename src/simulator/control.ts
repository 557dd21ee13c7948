import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { isIP } from "node:net";
import { join } from "node:path";
import * as v from "valibot";
import { packageFolder } from "../package/package-files.ts";
import { contentPolicy, pageHeaders, pagePolicy } from "../package/page-headers.ts";
import { catalogueParcels } from "./catalogue/parcels.ts";
import type { SimulatorCore } from "./core.ts";
import { faultRuleSchema, normalPlan } from "./faults.ts";
import { LimitError } from "./history.ts";
import { deviceButtons } from "./machine.ts";
import { dimsUnits, modes } from "./options.ts";
import { imageKinds, type ImageKind } from "./parcels.ts";
import { segmentsOf } from "./paths.ts";
import { openPortListener, type PortListener } from "./port-listener.ts";
import { surfaces } from "./requests.ts";
import { bytesContent, contentResponse, sendPlan, type Content } from "./responses.ts";
import { scanCommand, scannerSettings } from "./scanner-types.ts";
import type { Simulator } from "./simulator.ts";
import type { Timers } from "./timers.ts";

/** The response of a route. */
interface Reply {
  readonly status: number;
  readonly body?: unknown;
}

/** A request that the control port refuses; the message is for its sender. */
class ControlError extends Error {
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
function recentWanted(query: URLSearchParams): number {
  return decode(recentQuery, Object.fromEntries(query)).recent;
}

/** The state of the simulator as JSON. */
function stateOf(sim: Simulator): Record<string, unknown> {
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

type Route = (sim: Simulator, query: URLSearchParams, body: unknown) => Reply | Promise<Reply>;

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

/** Far more than any request of the control API has. */
const mostLevels = 64;
const mostValues = 100_000;

/**
 * Parses the body of a control request. The nesting and the number of values are counted in the text, before anything is
 * built from it: deep JSON would exhaust the stack of whatever walks through it later.
 */
function parseControlJson(text: string): unknown {
  let [levels, values] = [0, 1];
  let isInString = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (isInString) {
      if (character === "\\") {
        at += 1;
      } else if (character === '"') {
        isInString = false;
      }
    } else if (character === '"') {
      isInString = true;
    } else if (character === "[" || character === "{") {
      levels += 1;
      values += 1;
    } else if (character === "]" || character === "}") {
      levels -= 1;
    } else if (character === ",") {
      values += 1;
    }
    if (levels > mostLevels) {
      throw new ControlError(400, `The body is nested deeper than ${mostLevels} levels`);
    }
    if (values > mostValues) {
      throw new ControlError(400, `The body has more than ${mostValues} values`);
    }
  }
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    throw new ControlError(400, "The body is not JSON");
  }
}

const contentTypes: Readonly<Record<string, string>> = {
  "index.html": "text/html; charset=utf-8",
  "page.css": "text/css; charset=utf-8",
  "page.js": "text/javascript; charset=utf-8",
  "icon.svg": "image/svg+xml",
  "table.svg": "image/svg+xml",
};

/** The folder of the built page, also if the sources are run; undefined if it was not built yet. */
function builtPage(): string | undefined {
  const folder = join(packageFolder(), "dist/src/simulator/page");
  return existsSync(join(folder, "page.js")) ? folder : undefined;
}

/** One of the page's files; null when there is none of this name, or no page was built. */
async function pageFile(name: string): Promise<Content | null> {
  const type = Object.hasOwn(contentTypes, name) ? contentTypes[name] : undefined;
  const found = type === undefined ? undefined : builtPage();
  if (type === undefined || found === undefined) {
    return null;
  }
  return bytesContent(type, await readFile(join(found, name)));
}

/** Images and videos that the control port serves to the page. */
interface PageMedia {
  /** Finds a medium by the decoded segments of a path; null if there is none. */
  find(segments: readonly string[]): Content | null;
}

function imageKind(name: string): ImageKind | undefined {
  return imageKinds.find((kind) => kind === name);
}

/** Finds the media that the page shows. None of these requests is listed, and no fault applies to them. */
export function createPageMedia(core: SimulatorCore): PageMedia {
  const { parcels, devices, transactions } = core;

  function catalogue(parcel: string, kind: string): Content | null {
    const picture = kind === "video" || kind === "label" ? kind : imageKind(kind);
    if (picture === undefined || !parcels.names.includes(parcel)) {
      return null;
    }
    const found = parcels.find(parcel);
    return found === null ? null : parcels.image(found, picture);
  }

  function savedVideo(recordingId: string): Content | null {
    const { state, savedContent } = devices.newer;
    return state.savedVideo?.recordingId === recordingId ? savedContent : null;
  }

  function media(transactionId: string, contentId: string): Content | null {
    const transaction = transactions.find(transactionId);
    if (transaction === undefined) {
      return null;
    }
    return transactions.media(transaction, contentId)?.load() ?? null;
  }

  return {
    find([what, first = "", second = "", ...rest]) {
      if (rest.length > 0) {
        return null;
      }
      if (what === "catalogue") {
        return catalogue(first, second);
      }
      if (what === "video") {
        return second === "" ? savedVideo(first) : null;
      }
      if (what === "media") {
        return media(first, second);
      }
      const kind = what === "images" ? imageKind(second) : undefined;
      return kind === undefined ? null : devices.newer.image(kind, first);
    },
  };
}

interface Served {
  readonly content: Content;
  readonly policy: string;
}

async function page(): Promise<Served> {
  const content = await pageFile("index.html");
  if (content === null) {
    throw new ControlError(503, "The page is not built. Run: npm run build");
  }
  return { content, policy: pagePolicy };
}

/** The content of a path for a browser: the page, its files, pictures and videos; null for all other paths. */
async function contentFor(request: IncomingMessage, pageMedia: PageMedia): Promise<Served | null> {
  if (request.method !== "GET") {
    return null;
  }
  const path = (request.url ?? "/").split("?")[0] ?? "/";
  if (path === "/") {
    return (request.headers.accept ?? "").includes("text/html") ? page() : null;
  }
  const segments = segmentsOf(path);
  const content = pageMedia.find(segments) ?? (await pageFile(path.slice(1)));
  return content === null ? null : { content, policy: contentPolicy };
}

/** Serves a file to a browser. Returns false if the request is for something else. */
async function serveFile(
  request: IncomingMessage,
  response: ServerResponse,
  pageMedia: PageMedia,
  timers: Timers,
): Promise<boolean> {
  const served = await contentFor(request, pageMedia);
  if (served === null) {
    return false;
  }
  const header = (name: string): string | null => {
    const value = request.headers[name];
    return Array.isArray(value) ? value.join(", ") : (value ?? null);
  };
  const asked = { method: "GET", segments: [], query: new Map<string, string>(), header, contentFault: {} };
  const headers = { ...pageHeaders, "content-security-policy": served.policy, vary: "accept" };
  const plan = normalPlan(contentResponse(asked, served.content, headers), false);
  await sendPlan(response, request.socket, plan, {
    sleep: (ms) => timers.sleep(ms),
    reset: () => request.socket.resetAndDestroy(),
  });
  return true;
}

// State changes come in bursts; a client needs only the last state.
const stateEveryMs = 50;
// The connection of a client that does not read is closed, so that its events do not pile up in memory.
const mostUnreadBytes = 1024 * 1024;
// How soon a browser reconnects.
const retryMs = 1000;

/** The latest entries of each list. */
function recentOf(sim: Simulator, count: number): Record<string, unknown> {
  return {
    requests: sim.requests.slice(-count),
    transactions: sim.cloud.transactions.slice(-count),
    webhooks: sim.cloud.webhookPosts.slice(-count),
  };
}

/**
 * Sends server-sent events until the client disconnects: first the latest past events, if it requests them, then the
 * state, then each event as it happens.
 */
function streamEvents(sim: Simulator, response: ServerResponse, recent: number): void {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  let timer: NodeJS.Timeout | undefined;

  function tell(event: string, data: unknown): void {
    response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    if (response.writableLength > mostUnreadBytes) {
      response.destroy();
    }
  }
  function tellState(): void {
    timer = undefined;
    tell("state", stateOf(sim));
  }

  const ends = [
    sim.onRequest((record) => tell("request", record)),
    sim.onSettled((record) => tell("settled", record)),
    sim.onEvent((event) => {
      if (event.type === "state") {
        timer ??= setTimeout(tellState, stateEveryMs);
      } else {
        tell(event.type, event);
      }
    }),
  ];
  response.on("close", () => {
    ends.forEach((end) => end());
    clearTimeout(timer);
  });
  response.write(`retry: ${retryMs}\n`);
  if (recent > 0) {
    tell("recent", recentOf(sim, recent));
  }
  tellState();
}

/** How many clients of the event stream there may be; each may have a megabyte waiting for it. */
const mostWatching = 50;
const largestBodyBytes = 5 * 1024 * 1024;
/** How much of a refused body is read, so that its sender receives the response. */
const mostRefusedBytes = 32 * 1024 * 1024;

/**
 * Protects against DNS rebinding: a foreign site can let its own name resolve to this computer, and the browser then sends
 * its requests here. The Host header contains that name, never an address or localhost.
 */
function isOwnHost(header: string | undefined, host: string): boolean {
  if (header === undefined || !URL.canParse(`http://${header}`)) {
    return false;
  }
  const name = new URL(`http://${header}`).hostname.replace(/^\[|\]$/g, "");
  return isIP(name) !== 0 || name === "localhost" || name === host.toLowerCase();
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const type = (request.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase();
  // A browser sends other content types to foreign origins without a preflight request.
  if (type !== "application/json") {
    throw new ControlError(415, "Send the header content-type: application/json");
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    if (!Buffer.isBuffer(chunk)) {
      continue;
    }
    bytes += chunk.length;
    if (bytes > largestBodyBytes) {
      throw new ControlError(413, "The body is larger than 5 MB");
    }
    chunks.push(chunk);
  }
  return bytes === 0 ? undefined : parseControlJson(Buffer.concat(chunks).toString());
}

/** Discards the rest of a body before an error response, which the sender would not receive if the connection ended before. */
async function discardBody(request: IncomingMessage): Promise<void> {
  let bytes = 0;
  try {
    for await (const chunk of request) {
      bytes += Buffer.isBuffer(chunk) ? chunk.length : 0;
      if (bytes > mostRefusedBytes) {
        return;
      }
    }
  } catch {
    // The sender has closed the connection.
  }
}

function send(response: ServerResponse, { status, body }: Reply): void {
  if (body === undefined) {
    response.writeHead(status, pageHeaders).end();
    return;
  }
  const type = { "content-type": "application/json; charset=utf-8", vary: "accept" };
  response.writeHead(status, { ...pageHeaders, ...type }).end(JSON.stringify(body));
}

function statusOf(error: unknown): number {
  if (error instanceof ControlError) {
    return error.status;
  }
  return error instanceof LimitError ? 409 : 500;
}

async function sendError(request: IncomingMessage, response: ServerResponse, error: unknown): Promise<void> {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  await discardBody(request);
  // The rest of the body may still arrive on this connection, so it is closed.
  response.shouldKeepAlive = false;
  send(response, {
    status: statusOf(error),
    body: { error: error instanceof Error ? error.message : String(error) },
  });
}

function removeFault(sim: Simulator, id: string): Reply {
  if (!sim.faults.remove(id)) {
    throw new ControlError(404, `There is no fault ${id}`);
  }
  return { status: 204 };
}

async function answer(sim: Simulator, request: IncomingMessage, url: URL): Promise<Reply> {
  const method = request.method ?? "";
  const fault = /^\/faults\/([^/]+)$/.exec(url.pathname)?.[1];
  if (fault !== undefined && method === "DELETE") {
    return removeFault(sim, fault);
  }
  const key = `${method} ${url.pathname}`;
  const route = Object.hasOwn(controlRoutes, key) ? controlRoutes[key] : undefined;
  if (route === undefined) {
    throw new ControlError(404, `There is no ${key}; GET / lists what there is`);
  }
  return route(sim, url.searchParams, method === "POST" ? await bodyOf(request) : undefined);
}

/** Opens the control port. `simulator` is a function because the control port opens before the simulator is complete. */
export function startControl(
  host: string,
  port: number,
  timers: Timers,
  pageMedia: PageMedia,
  simulator: () => Simulator,
): Promise<PortListener> {
  let watching = 0;

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!isOwnHost(request.headers.host, host)) {
      throw new ControlError(403, "Call the control port by its address or as localhost");
    }
    const url = new URL(request.url ?? "/", "http://control");
    if (request.method === "GET" && url.pathname === "/events") {
      if (watching >= mostWatching) {
        throw new ControlError(503, `At most ${mostWatching} can watch the events at once`);
      }
      watching += 1;
      response.once("close", () => (watching -= 1));
      streamEvents(simulator(), response, recentWanted(url.searchParams));
    } else if (!(await serveFile(request, response, pageMedia, timers))) {
      send(response, await answer(simulator(), request, url));
    }
  }

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => sendError(request, response, error));
  });
  return openPortListener({
    host,
    port,
    timers,
    accept: (socket) => server.emit("connection", socket),
    connectionFault: () => null,
  });
}
