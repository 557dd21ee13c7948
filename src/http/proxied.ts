import type * as Undici from "undici";
import type { buildConnector, Dispatcher, Pool } from "undici";
import { phrase, problemOf } from "../errors/interpolation.ts";
import { isUntrusted, ProxyError } from "./failures.ts";

type Connector = buildConnector.connector;

/** Connections that go through tunnels of a proxy, whose failures say that it is the proxy's. */
export function openProxied(
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
      new Pool(proxy, { ...options, connect: watch(buildConnector(connect.proxy), noProxy) }),
    factory: (origin, { connect: tunnel, ...rest }: Pool.Options) =>
      new Pool(origin, typeof tunnel === "function" ? { ...rest, connect: watch(tunnel, noTunnel) } : rest),
  });
}

function noProxy(error: Error): Error {
  return new ProxyError(problemOf(error), { cause: error });
}

/** Whatever goes wrong with a tunnel is the proxy's fault, save TLS with the peer. */
function noTunnel(error: Error): Error {
  if (isUntrusted(error)) {
    return error;
  }
  const status = /^Proxy response \((\d+)\)/.exec(error.message)?.[1];
  const problem =
    status === undefined ? problemOf(error) : phrase("proxyStatus", { statusCode: Number(status) });
  return new ProxyError(problem, { cause: error });
}
