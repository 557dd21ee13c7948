import type * as Undici from "undici";
import type { buildConnector, Dispatcher, Pool } from "undici";
import { phrase, problemOf } from "../errors/interpolation.ts";
import { isUntrusted } from "../errors/connect-problem.ts";
import { ProxyError } from "./failures.ts";

type Connector = buildConnector.connector;

/** Opens connections through the tunnels of a proxy. Failures of the proxy become ProxyErrors. */
export function openThroughProxy(
  { buildConnector, Pool, ProxyAgent }: typeof Undici,
  proxyUrl: string,
  options: Pool.Options,
  connect: { readonly tls: buildConnector.BuildOptions; readonly proxy: buildConnector.BuildOptions },
  watch: (connector: Connector, explain: (error: Error) => Error) => Connector,
): Dispatcher {
  return new ProxyAgent({
    ...options,
    uri: proxyUrl,
    proxyTunnel: true,
    requestTls: connect.tls,
    clientFactory: (proxy) =>
      new Pool(proxy, { ...options, connect: watch(buildConnector(connect.proxy), proxyFailure) }),
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
