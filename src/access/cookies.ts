import type { IncomingMessage } from "node:http";

const cookieName = "dimensioner_evidence";

/** The token of a session in the request's cookies. */
export function readToken({ headers }: IncomingMessage): string | undefined {
  const cookies = (headers.cookie ?? "").split(";").map((cookie) => cookie.trim());
  const values = cookies
    .filter((cookie) => cookie.startsWith(`${cookieName}=`))
    .map((cookie) => cookie.slice(cookieName.length + 1));
  // If there are two, another page of this host has set one. Neither is trusted.
  return values.length === 1 ? values[0] : undefined;
}

/** The header that gives the token to the browser, for this page alone, out of reach of scripts and of other sites. */
export function tokenCookie(request: IncomingMessage, path: string, token: string): string {
  return `${cookieName}=${token}; ${attributes(request, path)}`;
}

/** The header that takes the token away. */
export function endedCookie(request: IncomingMessage, path: string): string {
  return `${cookieName}=; Max-Age=0; ${attributes(request, path)}`;
}

function attributes(request: IncomingMessage, path: string): string {
  return `Path=${path}; HttpOnly; SameSite=Strict${isEncrypted(request) ? "; Secure" : ""}`;
}

/** A proxy that encrypts sets the header. A client that sets it by itself only keeps its own browser from sending the cookie. */
function isEncrypted({ socket, headers }: IncomingMessage): boolean {
  return Reflect.get(socket, "encrypted") === true || headers["x-forwarded-proto"] === "https";
}
