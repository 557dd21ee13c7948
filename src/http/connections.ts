import { createRequire } from "node:module";
import { Socket } from "node:net";
import type * as Undici from "undici";
import type { buildConnector, Dispatcher } from "undici";
import { openProxied } from "./proxied.ts";
import { skipInterim } from "./skip-interim.ts";

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
  /** Whether `destroy` has been called: what goes wrong from then on goes wrong because of that. */
  readonly isClosed: boolean;
  /** Whether an error says that a connection could not be made; any other is one of a connection that was there. */
  couldNotConnect(error: Error): boolean;
  /** Ends every connection, also those that are still being made, which undici alone would let run on. */
  destroy(): Promise<void>;
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
      : openProxied(undici, route.proxyUrl, options, { tls, proxy: http1 }, watch);
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

/** Keeps track of the connections that are being made, and readies those that are. */
function watched(connect: Connector, connecting: Set<Socket>, explain: (error: Error) => Error): Connector {
  return (options, callback) => {
    // Undici's types say void, but its own connector returns the socket it has begun to connect.
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
 * undici, with the first connection that is opened: loading it takes as long as half of this package, and Node-RED
 * loads the package at every start, used or not.
 */
function loadUndici(): typeof Undici {
  const loaded: unknown = require("undici");
  if (!isUndici(loaded)) {
    throw new TypeError("The installed undici is none that this package knows. Install this package anew.");
  }
  return loaded;
}

function isUndici(loaded: unknown): loaded is typeof Undici {
  return typeof loaded === "object" && loaded !== null && "Pool" in loaded && "ProxyAgent" in loaded;
}
