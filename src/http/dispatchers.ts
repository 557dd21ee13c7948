import { Socket } from "node:net";
import { buildConnector, type Dispatcher, Pool, ProxyAgent } from "undici";

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
  /** Ends every connection, also those that are still being made, which undici alone would let run on. */
  destroy(): Promise<void>;
}

/** Long enough for a burst, short enough that a command seldom meets a connection that the device has given up. */
const commandKeepAliveMs = 1_000;
const readKeepAliveMs = 4_000;

/**
 * Opens a pool of connections to one origin. Commands and reads never share one: a command meets no request of another
 * kind on its connection, and pipelining stays at 1, since undici re-sends what a pipeline held when it breaks.
 */
export function openDispatcher(use: "commands" | "reads", route: Route): OpenDispatcher {
  const connecting = new Set<Socket>();
  const keepAliveMs = use === "commands" ? commandKeepAliveMs : readKeepAliveMs;
  const options = { pipelining: 1, keepAliveTimeout: keepAliveMs, keepAliveMaxTimeout: keepAliveMs };
  const tls = { ...route.tls, timeout: route.connectMs };
  const dispatcher =
    route.proxyUrl === undefined
      ? new Pool(route.origin, { ...options, connect: track(buildConnector(tls), connecting) })
      : new ProxyAgent({
          ...options,
          uri: route.proxyUrl,
          proxyTunnel: true,
          requestTls: tls,
          clientFactory: (origin) =>
            new Pool(origin, {
              connect: track(buildConnector({ timeout: route.connectMs }), connecting),
            }),
        });
  return {
    dispatcher,
    async destroy() {
      const destroyed = dispatcher.destroy();
      for (const socket of connecting) {
        socket.destroy();
      }
      await destroyed;
    },
  };
}

function track(connect: buildConnector.connector, connecting: Set<Socket>): buildConnector.connector {
  return (options, callback) => {
    // Undici's types say void, but its connector returns the socket it has begun to connect.
    const socket: unknown = connect(options, (...result: Parameters<buildConnector.Callback>) => {
      if (socket instanceof Socket) {
        connecting.delete(socket);
      }
      callback(...result);
    });
    if (socket instanceof Socket) {
      connecting.add(socket);
    }
  };
}
