import { createRequire } from "node:module";
import { Socket } from "node:net";
import type * as Undici from "undici";
import type { buildConnector, Dispatcher } from "undici";
import { openThroughProxy } from "./proxy-connections.ts";
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
