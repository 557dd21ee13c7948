import type { NodeAPI } from "node-red";
import { phrase } from "../../errors/interpolation.ts";
import type { SettingsReader } from "./settings.ts";

/**
 * Returns the proxy for requests to the cloud, by the rules of the core http request node: a selected http proxy node,
 * else the environment's proxy variables, npm's among them, unless no_proxy excludes the host. Undefined: none. Throws ERR_CONFIG.
 */
export function chooseProxy(
  RED: NodeAPI,
  id: string,
  origin: string,
  settings: SettingsReader,
  env: NodeJS.ProcessEnv = process.env,
): string | undefined {
  const { url, noProxy } = id === "" ? fromEnvironment(origin, env) : fromNode(RED, id, settings);
  if (url === "" || isExcepted(new URL(origin), noProxy)) {
    return undefined;
  }
  const proxy = URL.canParse(url) ? new URL(url) : null;
  if (proxy === null || !/^https?:$/.test(proxy.protocol)) {
    throw settings.invalid("proxy", phrase("proxyAddress"));
  }
  return proxy.href;
}

interface ProxyRules {
  readonly url: string;
  readonly noProxy: readonly string[];
}

function fromEnvironment(origin: string, env: NodeJS.ProcessEnv): ProxyRules {
  const read = (...names: readonly string[]): string =>
    names.flatMap((name) => [env[name], env[name.toUpperCase()]]).find(Boolean) ?? "";
  const scheme = new URL(origin).protocol.slice(0, -1);
  const own = `${scheme}_proxy`;
  const url = read(`npm_config_${own}`, own, "npm_config_proxy", "all_proxy");
  return {
    url: url === "" || url.includes("://") ? url : `${scheme}://${url}`,
    noProxy: read("npm_config_no_proxy", "no_proxy").split(/[,\s]+/),
  };
}

function fromNode(RED: NodeAPI, id: string, settings: SettingsReader): ProxyRules {
  const node: unknown = RED.nodes.getNode(id);
  if (typeof node !== "object" || node === null || !("url" in node) || typeof node.url !== "string") {
    throw settings.invalid("proxy", phrase("proxyGone"));
  }
  if (!URL.canParse(node.url)) {
    throw settings.invalid("proxy", phrase("proxyAddress"));
  }
  const url = new URL(node.url);
  const { username, password } = readLogin("credentials" in node ? node.credentials : undefined);
  if (username !== "" || password !== "") {
    url.username = encodeURIComponent(username);
    url.password = encodeURIComponent(password);
  }
  const noProxy = "noproxy" in node && Array.isArray(node.noproxy) ? node.noproxy.map(String) : [];
  return { url: url.href, noProxy };
}

function readLogin(credentials: unknown): { username: string; password: string } {
  const read = (name: string): string => {
    const value: unknown =
      typeof credentials === "object" && credentials !== null ? Reflect.get(credentials, name) : undefined;
    return typeof value === "string" ? value : "";
  };
  return { username: read("username"), password: read("password") };
}

/** The rules of no_proxy as Node-RED reads it: exact host, host:port, ".domain" or "*.domain" for an ending, "*" for all. */
function isExcepted(url: URL, noProxy: readonly string[]): boolean {
  const port = url.port === "" ? { "http:": "80", "https:": "443" }[url.protocol] : url.port;
  return noProxy.some((entry) => {
    const [, host = "", onlyPort] = /^(.+?)(?::(\d+))?$/.exec(entry.trim().toLowerCase()) ?? [];
    if (host === "" || (onlyPort !== undefined && onlyPort !== port)) {
      return false;
    }
    if (host === "*") {
      return true;
    }
    return /^[.*]/.test(host) ? url.hostname.endsWith(host.replace(/^\*/, "")) : url.hostname === host;
  });
}
