import { isIPv4, isIPv6 } from "node:net";
import { phrase, type Phrase } from "../fill-in.ts";

/**
 * Reads a device's address: host, host:port, [v6]:port or an http(s) origin, with nothing behind it. Returns the origin,
 * or what is wrong.
 */
export function readAddress(address: string): { origin: string; host: string } | { problem: Phrase } {
  const given = address.trim();
  if (given === "") {
    return { problem: phrase("empty") };
  }
  if (/[\s\p{Cc}\\]/u.test(given)) {
    return { problem: phrase("addressCharacters") };
  }
  if (isIPv6(given)) {
    return { problem: phrase("addressBrackets") };
  }
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(given)?.[1]?.toLowerCase();
  if (scheme !== undefined && scheme !== "http" && scheme !== "https") {
    return { problem: phrase("addressScheme") };
  }
  const rest = scheme === undefined ? given : given.slice(scheme.length + 3);
  const hostAndPort = rest.replace(/\/$/, "");
  if (/[/?#@]/.test(hostAndPort)) {
    return { problem: phrase("addressExtra") };
  }
  return readOrigin(scheme ?? "http", hostAndPort);
}

function readOrigin(
  scheme: string,
  hostAndPort: string,
): { origin: string; host: string } | { problem: Phrase } {
  let url: URL;
  try {
    url = new URL(`${scheme}://${hostAndPort}`);
  } catch {
    return { problem: phrase("addressUnreadable") };
  }
  const host = hostAndPort.replace(/:\d*$/, "");
  // The URL standard completes and converts numbers ("192.168.1", "0x7f.1"): in a machine's address that is a slip.
  if (isIPv4(url.hostname) && host !== url.hostname) {
    return { problem: phrase("addressNumbers", { address: url.hostname }) };
  }
  return { origin: url.origin, host: url.host };
}
