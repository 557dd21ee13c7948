import { Socket } from "node:net";
import type { buildConnector, Dispatcher, Pool } from "undici";
import { phrase, problemOf } from "../errors/interpolation.ts";
import { ReadMemory } from "./read-memory.ts";
import { isUntrusted, ProxyError } from "./failures.ts";
import { loadUndici } from "./undici.ts";

type Connector = buildConnector.connector;
type PoolOptions = Pool.Options;

/** TLS settings of a connection, in the names of node:tls. */
export interface TlsOptions {
  ca?: string | Buffer;
  cert?: string | Buffer;
  key?: string | Buffer;
  passphrase?: string;
  servername?: string;
  rejectUnauthorized?: boolean;
  ALPNProtocols?: string[];
}

export interface Route {
  readonly origin: string;
  readonly connectMs: number;
  readonly tls?: TlsOptions | undefined;
  /** May hold user name and password. */
  readonly proxyUrl?: string | undefined;
}

export interface OpenDispatcher {
  readonly dispatcher: Dispatcher;
  /** The exchanges on its connections that have paused. */
  readonly paused: Set<Resumable>;
  /** What its connections read into; null where that is left to Node.js. */
  readonly memory: ReadMemory | null;
  /** Whether `destroy` has been called: what goes wrong from then on goes wrong because of that. */
  readonly isClosed: boolean;
  /** Ends every connection, also those that are still being made, which undici alone would let run on. */
  destroy(): Promise<void>;
}

interface Resumable {
  resume(): void;
}

/** Long enough for a burst, short enough that a command seldom meets a connection that the device has given up. */
const commandKeepAliveMs = 1_000;
const readKeepAliveMs = 4_000;

/**
 * Opens a pool of connections to one origin. Commands and reads never share one: a command meets no request of another
 * kind on its connection, and pipelining stays at 1, without HTTP/2, since undici re-sends what a shared connection held
 * when it breaks. A pool also where there is one command at a time: the next one, if it follows at once, gets a new
 * connection and does not meet the one that the device may be closing after its answer.
 */
export function openDispatcher(use: "commands" | "reads", route: Route): OpenDispatcher {
  const { buildConnector, Pool, ProxyAgent } = loadUndici();
  const connecting = new Set<Socket>();
  const paused = new Set<Resumable>();
  const memory = use === "reads" && route.proxyUrl === undefined ? new ReadMemory() : null;
  const guard = (connect: Connector, explain = same): Connector =>
    guarded(connect, { connecting, paused, memory }, explain);
  const keepAliveMs = use === "commands" ? commandKeepAliveMs : readKeepAliveMs;
  const http1 = { allowH2: false, timeout: route.connectMs };
  const options = {
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
  };
  const tls = { ...route.tls, ...http1 };
  const direct = memory === null ? tls : { ...tls, onread: memory.onread };
  let isClosed = false;
  const dispatcher =
    route.proxyUrl === undefined
      ? new Pool(route.origin, { ...options, connect: guard(buildConnector(direct)) })
      : new ProxyAgent({
          ...options,
          uri: route.proxyUrl,
          proxyTunnel: true,
          requestTls: tls,
          clientFactory: (proxy) =>
            new Pool(proxy, { ...options, connect: guard(buildConnector(http1), noProxy) }),
          factory: (origin, { connect, ...rest }: PoolOptions) =>
            new Pool(
              origin,
              typeof connect === "function" ? { ...rest, connect: guard(connect, noTunnel) } : rest,
            ),
        });
  return {
    dispatcher,
    paused,
    memory,
    get isClosed() {
      return isClosed;
    },
    async destroy() {
      isClosed = true;
      const destroyed = dispatcher.destroy();
      for (const socket of connecting) {
        socket.destroy();
      }
      await destroyed;
    },
  };
}

function same(error: Error): Error {
  return error;
}

function noProxy(error: Error): Error {
  return new ProxyError(problemOf(error), { cause: error });
}

/** Whatever goes wrong is the proxy's, save TLS with the peer. Undici 7 would ask again, without end, one that hangs up. */
function noTunnel(error: Error): Error {
  if (isUntrusted(error)) {
    return error;
  }
  const status = /^Proxy response \((\d+)\)/.exec(error.message)?.[1];
  const problem =
    status === undefined ? problemOf(error) : phrase("proxyStatus", { statusCode: Number(status) });
  return new ProxyError(problem, { cause: error });
}

/** What all connections of one dispatcher have in common. */
interface Shared {
  readonly connecting: Set<Socket>;
  readonly paused: ReadonlySet<Resumable>;
  readonly memory: ReadMemory | null;
}

function guarded(
  connect: Connector,
  { connecting, paused, memory }: Shared,
  explain: (error: Error) => Error,
): Connector {
  return (options, callback) => {
    // Undici's types say void, but its own connector returns the socket it has begun to connect.
    const begun: unknown = connect(options, (error, socket) => {
      if (begun instanceof Socket) {
        connecting.delete(begun);
      }
      if (error !== null) {
        callback(explain(error), null);
        return;
      }
      survivePause(socket, paused);
      if (memory !== null) {
        socket.once("close", () => memory.clear());
      }
      callback(null, socket);
    });
    if (begun instanceof Socket) {
      connecting.add(begun);
    }
  };
}

/**
 * Undici 7 ends the process when a connection that was not to be kept alive ends while its answer is paused (its issue
 * 5360), and takes a reset for the proper end of a body without length. These listeners come before its own.
 */
function survivePause(socket: Socket, paused: ReadonlySet<Resumable>): void {
  // Which exchange runs on this socket is not known here; one that is resumed too early pauses again at its next chunk.
  socket.on("end", () => [...paused].forEach((exchange) => exchange.resume()));
  socket.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "ECONNRESET") {
      error.code = "ECONNRESET_BY_PEER";
    }
  });
}
