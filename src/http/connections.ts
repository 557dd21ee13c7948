import { createRequire } from "node:module";
import { Socket } from "node:net";
import type * as Undici from "undici";
import type { Dispatcher, Pool, buildConnector } from "undici";
import { isUntrusted } from "../errors/connect-problem.ts";
import { phrase, problemOf } from "../errors/interpolation.ts";
import { ProxyError } from "./failures.ts";

type Connector = buildConnector.connector;

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

/** The connections to one origin, for commands or for reads. */
export interface Connections {
  readonly dispatcher: Dispatcher;
  /** Whether `destroy` was called: errors after that are a consequence of it. */
  readonly isClosed: boolean;
  /** Whether an error means that no connection could be made; any other error is of an established connection. */
  couldNotConnect(error: Error): boolean;
  /** Closes every connection, also those that are being established, which undici alone would leave open. */
  destroy(): Promise<void>;
}

/** Long enough for a burst, short enough that a command is rarely sent on a connection that the device has closed. */
const commandKeepAliveMs = 1_000;
const readKeepAliveMs = 4_000;

/**
 * Opens a pool of connections to one origin. Commands and reads never share a pool: on its connection a command meets
 * no request of another kind, and pipelining stays at 1, without HTTP/2, since undici sends again what a shared
 * connection held when it breaks. There is a pool also where only one command is sent at a time: a command that follows
 * at once gets a new connection, not the one that the device may be closing after its response.
 */
export function openConnections(use: "commands" | "reads", route: Route): Connections {
  const undici = loadUndici();
  const { buildConnector, Pool } = undici;
  const connecting = new Set<Socket>();
  const connectErrors = new WeakSet<Error>();
  const watch = (connect: Connector, explain: (error: Error) => Error = same): Connector =>
    watched(connect, connecting, (error) => {
      const explained = explain(error);
      connectErrors.add(explained);
      return explained;
    });
  const keepAliveMs = use === "commands" ? commandKeepAliveMs : readKeepAliveMs;
  const http1 = { allowH2: false, timeout: route.connectMs };
  const tls = { ...route.tls, ...http1 };
  const options = {
    allowH2: false,
    pipelining: 1,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
  };
  let isClosed = false;
  const dispatcher =
    route.proxyUrl === undefined
      ? new Pool(route.origin, { ...options, connect: watch(buildConnector(tls)) })
      : openThroughProxy(undici, route.proxyUrl, options, { tls, proxy: http1 }, watch);
  return {
    dispatcher,
    get isClosed() {
      return isClosed;
    },
    couldNotConnect: (error) => connectErrors.has(error),
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

/** Keeps track of the connections that are being established, and prepares those that are. */
function watched(connect: Connector, connecting: Set<Socket>, explain: (error: Error) => Error): Connector {
  return (options, callback) => {
    // According to undici's types it returns nothing, but undici's own connector returns the socket that is being
    // connected.
    const begun: unknown = connect(options, (error, socket) => {
      if (begun instanceof Socket) {
        connecting.delete(begun);
      }
      if (error === null) {
        skipInterim(socket);
        callback(null, socket);
      } else {
        callback(explain(error), null);
      }
    });
    if (begun instanceof Socket) {
      connecting.add(begun);
    }
  };
}

function same(error: Error): Error {
  return error;
}

const require = createRequire(import.meta.url);

/**
 * Loads undici with the first connection: it takes as long to load as half of this package, and Node-RED loads every
 * installed package when it starts, used or not.
 */
function loadUndici(): typeof Undici {
  const loaded: unknown = require("undici");
  if (!isUndici(loaded)) {
    throw new TypeError("The installed version of undici is not supported. Reinstall this package.");
  }
  return loaded;
}

function isUndici(loaded: unknown): loaded is typeof Undici {
  return typeof loaded === "object" && loaded !== null && "Pool" in loaded && "ProxyAgent" in loaded;
}

/** Opens connections through the tunnels of a proxy. Failures of the proxy become ProxyErrors. */
function openThroughProxy(
  { buildConnector, Pool, ProxyAgent }: typeof Undici,
  proxyUrl: string,
  options: Pool.Options,
  connect: {
    readonly tls: buildConnector.BuildOptions;
    readonly proxy: buildConnector.BuildOptions & { readonly timeout: number };
  },
  watch: (connector: Connector, explain: (error: Error) => Error) => Connector,
): Dispatcher {
  return new ProxyAgent({
    ...options,
    uri: proxyUrl,
    proxyTunnel: true,
    requestTls: connect.tls,
    clientFactory: (proxy) =>
      new Pool(proxy, {
        ...options,
        // The answer to CONNECT is a part of connecting; otherwise undici keeps a silent proxy's connections for five minutes.
        headersTimeout: connect.proxy.timeout,
        connect: watch(buildConnector(connect.proxy), proxyFailure),
      }),
    factory: (origin, { connect: tunnel, ...rest }: Pool.Options) =>
      new Pool(
        origin,
        typeof tunnel === "function" ? { ...rest, connect: watch(tunnel, tunnelFailure) } : rest,
      ),
  });
}

function proxyFailure(error: Error): Error {
  return new ProxyError(problemOf(error), { cause: error });
}

/** Failures of a tunnel are the proxy's, except those of TLS with the peer. */
function tunnelFailure(error: Error): Error {
  if (isUntrusted(error)) {
    return error;
  }
  const status = /^Proxy response \((\d+)\)/.exec(error.message)?.[1];
  const problem =
    status === undefined ? problemOf(error) : phrase("proxyStatus", { statusCode: Number(status) });
  return new ProxyError(problem, { cause: error });
}

/** The interim statuses except 101, which changes the protocol. */
const interim = /^HTTP\/1\.1 1(?!01)\d\d/;
const shortestBytes = "HTTP/1.1 100".length;
const beginning = "HTTP/1.1 1";
const one = 0x31;
const end = "\r\n\r\n";
/** An interim response that is longer is not treated as one. */
const longestHeadBytes = 4096;
/** What comes beyond that before a response is left to the exchange, which counts the rest. */
const mostInterimBytes = 65_536;

/**
 * Removes interim responses (RFC 9110, 15.2) from the data of a connection. Clients have to ignore them, but undici
 * ends the connection on 100 Continue, and the response that follows would be lost. undici reads the socket with
 * `read`, so they are removed there, and only at the beginning of a response: requests have no body here, so a response
 * begins after each write.
 */
function skipInterim(socket: Socket): void {
  const read = socket.read.bind(socket);
  const nothing = Buffer.alloc(0);
  let written = -1;
  let isStart = false;
  let held: Buffer = nothing;
  let skippedBytes = 0;
  socket.read = (size?: number): unknown => {
    if (socket.bytesWritten !== written) {
      written = socket.bytesWritten;
      isStart = true;
      skippedBytes = 0;
    }
    const chunk: unknown = read(size);
    if (!isStart || !Buffer.isBuffer(chunk)) {
      return chunk;
    }
    if (held.length === 0 && chunk.length >= shortestBytes && chunk[beginning.length - 1] !== one) {
      // The usual case: the status of the response begins with another digit.
      isStart = false;
      return chunk;
    }
    const before = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    held = afterInterim(before);
    skippedBytes += before.length - held.length;
    if (mayBeInterim(held) && held.length < longestHeadBytes && skippedBytes < mostInterimBytes) {
      // The rest of the interim response arrives with a later read.
      return null;
    }
    isStart = false;
    const bytes = held;
    held = nothing;
    return bytes;
  };
}

/** The data behind all complete interim responses. */
function afterInterim(bytes: Buffer): Buffer {
  let left = bytes;
  for (let ends = 0; ends >= 0 && interim.test(startOf(left));) {
    ends = left.indexOf(end);
    left = ends < 0 ? left : left.subarray(ends + end.length);
  }
  return left;
}

/** Whether the data begin, or may begin, an interim response that is not complete yet. */
function mayBeInterim(bytes: Buffer): boolean {
  const start = startOf(bytes);
  return start.length < shortestBytes
    ? start.startsWith(beginning) || beginning.startsWith(start)
    : interim.test(start);
}

function startOf(bytes: Buffer): string {
  return bytes.toString("latin1", 0, shortestBytes);
}
