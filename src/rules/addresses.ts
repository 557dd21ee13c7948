import { problem, type Problem } from "./problem.ts";

/** A text that is not valid, and why. */
export interface Unusable {
  readonly problem: Problem;
}

/**
 * Reads a device's address: host, host:port, [v6]:port or an http(s) origin, with nothing behind it. Returns the origin,
 * or what is wrong.
 */
export function readAddress(address: string): { origin: string; host: string } | Unusable {
  const given = address.trim();
  if (given === "") {
    return { problem: problem("empty") };
  }
  const wrong = wrongCharacters(given);
  if (wrong !== undefined) {
    return { problem: problem(wrong) };
  }
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(given)?.[1]?.toLowerCase();
  if (scheme !== undefined && scheme !== "http" && scheme !== "https") {
    return { problem: problem("addressScheme") };
  }
  const rest = scheme === undefined ? given : given.slice(scheme.length + 3);
  const hostAndPort = rest.replace(/\/$/, "");
  if (/[/?#@]/.test(hostAndPort)) {
    return { problem: problem("addressExtra") };
  }
  // URL takes them for a part of a name: no name has them, and an address that was copied, or has commas, would only be unknown.
  if (/["',;|`]/.test(hostAndPort)) {
    return { problem: problem("addressCharacters") };
  }
  if (hostAndPort.split(":").length > 2 && !hostAndPort.startsWith("[")) {
    return { problem: problem("addressBrackets") };
  }
  return readOrigin(scheme ?? "http", hostAndPort);
}

function readOrigin(scheme: string, hostAndPort: string): { origin: string; host: string } | Unusable {
  const text = `${scheme}://${hostAndPort}`;
  const url = parseUrl(text);
  // Port 0 is not a port that a server can listen on.
  if (url === null || url.port === "0") {
    return { problem: problem("addressUnreadable") };
  }
  const isIPv4 = /^\d{1,3}(?:\.\d{1,3}){3}$/.test(url.hostname);
  // The URL standard completes and converts numbers ("192.168.1", "0x7f.1"): in a device's address that is a mistake.
  if (isIPv4 && hostAndPort.replace(/:\d*$/, "") !== url.hostname) {
    return { problem: problem("addressNumbers", { address: url.hostname }) };
  }
  return { origin: url.origin, host: url.host };
}

/** The cloud's address: the origin is what the token is sent to, and the path precedes the path of every call. */
export interface CloudAddress {
  readonly origin: string;
  readonly host: string;
  /** Without a slash at its end; mostly "". */
  readonly basePath: string;
}

/** Reads the cloud's base URL, or says what is wrong. Plain http would show the token to the network. */
export function readBaseUrl(baseUrl: string, allowHttp: boolean): CloudAddress | Unusable {
  const url = readServiceUrl(baseUrl, "baseUrlScheme");
  if ("problem" in url) {
    return url;
  }
  if (!allowHttp && isOpen(url)) {
    return { problem: problem("baseUrlHttp") };
  }
  return { origin: url.origin, host: url.host, basePath: url.pathname.replace(/\/+$/, "") };
}

/**
 * Reads the address of a time stamp server, or says what is wrong. A time stamp is signed, so plain http is safe unless
 * a password is sent.
 */
export function readTimestampServer(address: string, hasPassword: boolean): URL | Unusable {
  const url = readServiceUrl(address, "addressScheme");
  return !("problem" in url) && hasPassword && isOpen(url) ? { problem: problem("serverHttp") } : url;
}

/** Reads the address at which people open a page, or says what is wrong. It ends with a slash then. */
export function readPageUrl(address: string): { readonly url: string } | Unusable {
  const url = readServiceUrl(address, "addressScheme");
  return "problem" in url ? url : { url: url.href.replace(/\/*$/, "/") };
}

/**
 * Reads the host of a database, or says what is wrong: a name, an IP address (an IPv6 address also in brackets), or the folder
 * of its socket. Returns it as an address has it.
 */
export function readDatabaseHost(given: string): { readonly host: string } | Unusable {
  const host = given.trim();
  if (host === "") {
    return { problem: problem("empty") };
  }
  const wrong = wrongCharacters(host);
  if (wrong !== undefined) {
    return { problem: problem(wrong) };
  }
  if (host.startsWith("/")) {
    return { host: encodeURIComponent(host) };
  }
  if (/^[^:/?#@[\]%]+$/.test(host)) {
    return { host };
  }
  const [, inner = ""] = /^\[?([\da-f:.]*:[\da-f:.]*)\]?$/i.exec(host) ?? [];
  return readIpAddress(inner) === null ? { problem: problem("databaseHost") } : { host: `[${inner}]` };
}

/** Reads the address of a service on the web, or says what is wrong. */
export function readServiceUrl(address: string, ofScheme: "addressScheme" | "baseUrlScheme"): URL | Unusable {
  const given = address.trim();
  if (given === "") {
    return { problem: problem("empty") };
  }
  const wrong = wrongCharacters(given);
  if (wrong !== undefined) {
    return { problem: problem(wrong) };
  }
  const url = parseUrl(given);
  if (url === null || !/^https?:\/\//i.test(given)) {
    return { problem: problem(ofScheme) };
  }
  if (url.port === "0") {
    return { problem: problem("addressUnreadable") };
  }
  if (url.username !== "" || url.password !== "" || /[?#]/.test(given)) {
    return { problem: problem("baseUrlExtra") };
  }
  return url;
}

/** Whether this base URL sends the token over a network without encryption. */
export function isOpenHttp(baseUrl: string): boolean {
  const url = parseUrl(baseUrl.trim());
  return url !== null && isOpen(url);
}

function isOpen({ protocol, hostname }: URL): boolean {
  return protocol === "http:" && !/^(?:localhost|\[::1\]|127(?:\.\d{1,3}){3})$/.test(hostname);
}

/** Characters that an address cannot have, of which some cannot be seen or look like others. */
function wrongCharacters(
  address: string,
): "addressCharacters" | "addressInvisible" | "addressVariable" | "addressWide" | "addressZone" | undefined {
  // Format characters, such as a zero-width space, and what has no width of its own.
  if (/[\p{Cf}\p{Default_Ignorable_Code_Point}]/u.test(address)) {
    return "addressInvisible";
  }
  // URL takes them for the ordinary ones, and the address would not be the one that is shown.
  if (/[\u3000-\u3002\uFF01-\uFF61]/.test(address)) {
    return "addressWide";
  }
  // An IPv6 address with the name of an interface.
  if (/^(?:[a-z][a-z\d+.-]*:\/\/)?\[?[\da-f]{0,4}:[\da-f:.]*%/i.test(address)) {
    return "addressZone";
  }
  if (/\$[{(]/.test(address)) {
    return "addressVariable";
  }
  return /[\s\p{Cc}\\]/u.test(address) ? "addressCharacters" : undefined;
}

/** Not URL.canParse(), which browsers of 2022 do not have. */
function parseUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

/** Reads IP addresses that are separated by commas or spaces, each as the system writes it. */
export function readIpAddresses(given: string): { readonly addresses: readonly string[] } | Unusable {
  const parts = given.split(/[,\s]+/).filter((part) => part !== "");
  if (parts.length === 0) {
    return { problem: problem("empty") };
  }
  const addresses: string[] = [];
  for (const part of parts) {
    const address = readIpAddress(part);
    if (address === null) {
      return { problem: problem("ipAddress", { value: part }) };
    }
    addresses.push(address);
  }
  return { addresses };
}

function readIpAddress(text: string): string | null {
  if (/^\d{1,3}(?:\.\d{1,3}){3}$/.test(text)) {
    return parseUrl(`http://${text}/`)?.hostname === text ? text : null;
  }
  return /^[\da-f:.]+$/i.test(text) ? (parseUrl(`http://[${text}]/`)?.hostname.slice(1, -1) ?? null) : null;
}

/** Whether a host of a URL is certainly not reachable from the internet: this computer, or one in a local network. */
export function isPrivateHost(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, "");
  if (name.includes(":")) {
    const inIPv4 = /^::ffff:([0-9.]+)$/.exec(name)?.[1];
    return inIPv4 === undefined ? /^(?:::1?$|f[cd]|fe[89ab])/.test(name) : isPrivateIPv4(inIPv4);
  }
  return (
    isPrivateIPv4(name) || !name.includes(".") || /\.(?:local|localhost|internal|lan|home\.arpa)$/.test(name)
  );
}

/** RFC 1918, RFC 3927, RFC 6598 and the loopback addresses. */
function isPrivateIPv4(address: string): boolean {
  const [first = "", second = "", ...rest] = address.split(".");
  if (rest.length !== 2 || !/^[0-9.]+$/.test(address)) {
    return false;
  }
  const [one, two] = [Number(first), Number(second)];
  return (
    [0, 10, 127].includes(one) ||
    (one === 100 && two >= 64 && two < 128) ||
    (one === 169 && two === 254) ||
    (one === 172 && two >= 16 && two < 32) ||
    (one === 192 && two === 168)
  );
}
