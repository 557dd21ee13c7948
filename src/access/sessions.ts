import { createHash, randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** A session ends after this time without a request, and after a working day in any case. */
export const idleMs = 30 * 60_000;
export const longestMs = 12 * 3_600_000;
const mostSessions = 1_000;
const mostOfLogin = 20;
const tokenBytes = 32;

interface Session {
  readonly name: string;
  /** The digest of the password's hash: a change of the password ends the session. */
  readonly mark: string;
  readonly beganAt: number;
  seenAt: number;
}

/** Whose session it is, and by which password hash it began. */
interface SessionLogin {
  readonly name: string;
  readonly hash: string;
}

/**
 * The sessions of one page. Only the digests of their tokens are kept. They are in memory: a restart of Node-RED ends them,
 * a deploy does not.
 */
export class Sessions {
  /** By the digest of the token; the one that was used longest ago comes first. */
  readonly #sessions = new Map<string, Session>();
  readonly #now: () => number;

  /** The clock is monotonic: the computer's time may be set while a session lasts. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Begins a session and returns its token, 256 random bits. */
  begin({ name, hash }: SessionLogin): string {
    const now = this.#now();
    this.#forgetEnded(now);
    const ofLogin = [...this.#sessions].filter(([, session]) => session.name === name);
    const [oldest] = ofLogin.length >= mostOfLogin ? ofLogin : [...this.#sessions];
    if (oldest !== undefined && (ofLogin.length >= mostOfLogin || this.#sessions.size >= mostSessions)) {
      this.#sessions.delete(oldest[0]);
    }
    const token = randomBytes(tokenBytes).toString("base64url");
    this.#sessions.set(digest(token), { name, mark: digest(hash), beganAt: now, seenAt: now });
    return token;
  }

  /** The name of the login of a session that has not ended; this counts as its use. `hashOf` is asked for the login's hash. */
  find(token: string, hashOf: (name: string) => string | undefined): string | undefined {
    const now = this.#now();
    const key = digest(token);
    const session = this.#sessions.get(key);
    if (session === undefined) {
      return undefined;
    }
    this.#sessions.delete(key);
    const hash = hashOf(session.name);
    if (hasEnded(session, now) || hash === undefined || digest(hash) !== session.mark) {
      return undefined;
    }
    session.seenAt = now;
    this.#sessions.set(key, session);
    return session.name;
  }

  end(token: string): void {
    this.#sessions.delete(digest(token));
  }

  #forgetEnded(now: number): void {
    for (const [key, session] of this.#sessions) {
      if (hasEnded(session, now)) {
        this.#sessions.delete(key);
      }
    }
  }
}

function hasEnded({ beganAt, seenAt }: Session, now: number): boolean {
  return now - seenAt >= idleMs || now - beganAt >= longestMs;
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

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
