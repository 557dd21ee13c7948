import { phrase, type Phrase } from "../fill-in.ts";

/** Where the cloud is: the origin gets the token, and the path stands before every call's own. */
export interface CloudAddress {
  readonly origin: string;
  readonly host: string;
  /** Without a slash at its end; mostly "". */
  readonly basePath: string;
}

/** Reads the cloud's base URL, or says what is wrong. Plain http would show the token to the network. */
export function readBaseUrl(baseUrl: string, allowHttp: boolean): CloudAddress | { problem: Phrase } {
  const given = baseUrl.trim();
  if (given === "") {
    return { problem: phrase("empty") };
  }
  if (/[\s\p{Cc}\\]/u.test(given)) {
    return { problem: phrase("addressCharacters") };
  }
  const url = URL.canParse(given) ? new URL(given) : null;
  if (url === null || !/^https?:\/\//i.test(given)) {
    return { problem: phrase("baseUrlScheme") };
  }
  if (
    url.username !== "" ||
    url.password !== "" ||
    url.search !== "" ||
    url.hash !== "" ||
    /[?#]/.test(given)
  ) {
    return { problem: phrase("baseUrlExtra") };
  }
  if (url.protocol === "http:" && !allowHttp && !isLoopback(url.hostname)) {
    return { problem: phrase("baseUrlHttp") };
  }
  return { origin: url.origin, host: url.host, basePath: url.pathname.replace(/\/+$/, "") };
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}
