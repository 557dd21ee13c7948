import { isIPv4, isIPv6 } from "node:net";

/**
 * Reads a device's address: host, host:port, [v6]:port or an http(s) origin, with nothing behind it. Returns the origin,
 * or a sentence that says what is wrong.
 */
export function readAddress(address: string): { origin: string; host: string } | { problem: string } {
  const given = address.trim();
  if (given === "") {
    return { problem: "it is empty." };
  }
  if (/[\s\p{Cc}\\]/u.test(given)) {
    return { problem: "it has spaces or other characters that no address has." };
  }
  if (isIPv6(given)) {
    return { problem: "an IPv6 address goes into brackets, like [fe80::1]." };
  }
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(given)?.[1]?.toLowerCase();
  if (scheme !== undefined && scheme !== "http" && scheme !== "https") {
    return { problem: "only http and https are possible." };
  }
  const rest = scheme === undefined ? given : given.slice(scheme.length + 3);
  const hostAndPort = rest.replace(/\/$/, "");
  if (/[/?#@]/.test(hostAndPort)) {
    return { problem: "only the host and the port belong here, no path, query or user name." };
  }
  return readOrigin(scheme ?? "http", hostAndPort);
}

function readOrigin(
  scheme: string,
  hostAndPort: string,
): { origin: string; host: string } | { problem: string } {
  let url: URL;
  try {
    url = new URL(`${scheme}://${hostAndPort}`);
  } catch {
    return { problem: "this is not an address." };
  }
  const host = hostAndPort.replace(/:\d*$/, "");
  // The URL standard completes and converts numbers ("192.168.1", "0x7f.1"): in a machine's address that is a slip.
  if (isIPv4(url.hostname) && host !== url.hostname) {
    return { problem: `an IPv4 address has four numbers; this would be ${url.hostname}.` };
  }
  return { origin: url.origin, host: url.host };
}
