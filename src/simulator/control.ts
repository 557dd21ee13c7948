import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { isIP } from "node:net";
import { pageHeaders } from "../package/page-headers.ts";
import { serveFile } from "./control-files.ts";
import { parseControlJson } from "./control-json.ts";
import { ControlError, recentWanted, controlRoutes, type Reply } from "./control-routes.ts";
import { streamEvents } from "./event-stream.ts";
import { openPortListener, type PortListener } from "./port-listener.ts";
import { LimitError } from "./history.ts";
import type { PageMedia } from "./page-media.ts";
import type { Simulator } from "./simulator.ts";
import type { Timers } from "./timers.ts";

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
