import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { longestNameLength } from "../rules/logins.ts";
import { type Login, type Person, findLogin, sameName } from "./logins.ts";
import { type Sessions, readToken } from "./sessions.ts";

/** How people are recognized. */
export type AccessRules =
  | { readonly by: "logins"; readonly logins: readonly Login[] }
  /** The login of all paths of flows, which Node-RED checks before the request arrives here. */
  | { readonly by: "nodeRed"; readonly user: string; readonly managers: readonly string[] }
  /** A header that a reverse proxy sets. Only requests from these addresses are believed. */
  | {
      readonly by: "proxy";
      readonly header: string;
      readonly addresses: readonly string[];
      readonly managers: readonly string[];
    };

/** Who sends a request; or that nobody is logged in, or that it did not come through the proxy. */
export type Recognized = Person | "unknown" | "refused";

export function recognize(rules: AccessRules, request: IncomingMessage, sessions: Sessions): Recognized {
  switch (rules.by) {
    case "logins":
      return ofSession(rules.logins, request, sessions);
    case "nodeRed": {
      const name = basicUser(request);
      return name === rules.user ? personOf(name, rules.managers) : "unknown";
    }
    case "proxy": {
      if (!rules.addresses.includes(addressOf(request))) {
        return "refused";
      }
      const given = request.headers[rules.header];
      const name = typeof given === "string" ? given.trim() : "";
      return name === "" || name.length > longestNameLength ? "unknown" : personOf(name, rules.managers);
    }
  }
}

function ofSession(logins: readonly Login[], request: IncomingMessage, sessions: Sessions): Recognized {
  const token = readToken(request);
  const name =
    token === undefined ? undefined : sessions.find(token, (known) => findLogin(logins, known)?.hash);
  // The right is read with each request, because a deploy may have changed it.
  const login = name === undefined ? undefined : findLogin(logins, name);
  return login === undefined ? "unknown" : { name: login.name, right: login.right };
}

function personOf(name: string, managers: readonly string[]): Person {
  const isManager = managers.some((manager) => sameName(manager) === sameName(name));
  return { name, right: isManager ? "manage" : "read" };
}

function basicUser({ headers }: IncomingMessage): string | undefined {
  const [, encoded = ""] = /^Basic +([A-Za-z0-9+/=]+)$/i.exec(headers.authorization ?? "") ?? [];
  const [user] = Buffer.from(encoded, "base64").toString("utf8").split(":");
  return user === "" ? undefined : user;
}

/** The address of the other end of the connection; what a header says of it is not asked. */
export function addressOf({ socket }: IncomingMessage): string {
  const address = socket.remoteAddress ?? "";
  const mapped = address.replace(/^::ffff:/i, "");
  return isIP(mapped) === 4 ? mapped : address;
}

/**
 * Whether a request that changes something comes from the page itself and not from another site, as the browser says.
 * Browsers send Sec-Fetch-Site only over HTTPS and to this computer; they send Origin with every post.
 */
export function isFromOwnPage({ headers }: IncomingMessage): boolean {
  const site = headers["sec-fetch-site"];
  if (site !== undefined) {
    return site === "same-origin";
  }
  const { origin, host } = headers;
  if (origin === undefined || host === undefined || !URL.canParse(origin)) {
    return false;
  }
  return new URL(origin).host === host.toLowerCase().replace(/:(?:80|443)$/, "");
}
