/** Where the cloud is: the origin gets the token, and the path stands before every call's own. */
export interface CloudAddress {
  readonly origin: string;
  readonly host: string;
  /** Without a slash at its end; mostly "". */
  readonly basePath: string;
}

/** Reads the cloud's base URL; a sentence says what is wrong. Plain http would show the token to the network. */
export function readBaseUrl(baseUrl: string, allowHttp: boolean): CloudAddress | { problem: string } {
  const given = baseUrl.trim();
  if (given === "") {
    return { problem: "it is empty." };
  }
  if (/[\s\p{Cc}\\]/u.test(given)) {
    return { problem: "it has spaces or other characters that no address has." };
  }
  const url = URL.canParse(given) ? new URL(given) : null;
  if (url === null || !/^https?:\/\//i.test(given)) {
    return { problem: "it must begin with https://." };
  }
  if (
    url.username !== "" ||
    url.password !== "" ||
    url.search !== "" ||
    url.hash !== "" ||
    /[?#]/.test(given)
  ) {
    return { problem: "no user name, query or fragment belongs here." };
  }
  if (url.protocol === "http:" && !allowHttp && !isLoopback(url.hostname)) {
    return { problem: "it must begin with https://, since http would show the token to the network." };
  }
  return { origin: url.origin, host: url.host, basePath: url.pathname.replace(/\/+$/, "") };
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
}
