import type { IncomingMessage, ServerResponse } from "node:http";
import * as v from "valibot";
import { endedCookie, readToken, tokenCookie } from "../../access/cookies.ts";
import type { FailedLogins } from "../../access/failed-logins.ts";
import { addressOf, type AccessRules } from "../../access/gate.ts";
import { findLogin } from "../../access/logins.ts";
import { longestNameLength, longestPasswordLength } from "../../rules/logins.ts";
import type { PasswordChecks } from "../../access/passwords.ts";
import type { Sessions } from "../../access/sessions.ts";
import { Refusal, sendNothing } from "./answers.ts";
import { readJsonBody } from "./request-body.ts";

/** What is kept of logins while the process runs; a deploy changes none of it. */
export interface LoginMemory {
  readonly sessions: Sessions;
  readonly failed: FailedLogins;
  readonly checks: PasswordChecks;
}

const loginBody = v.strictObject({
  name: v.pipe(v.string(), v.maxLength(longestNameLength)),
  password: v.pipe(v.string(), v.maxLength(longestPasswordLength)),
});

/**
 * Logs somebody in. Whether the name or the password is wrong, or there were too many tries, does not tell whether there is
 * such a login: neither do the answers, nor the time that they take.
 */
export async function logIn(
  request: IncomingMessage,
  response: ServerResponse,
  { rules, memory, path }: { rules: AccessRules; memory: LoginMemory; path: string },
): Promise<void> {
  if (rules.by !== "logins") {
    throw new Refusal(404, "notFound");
  }
  const { sessions, failed, checks } = memory;
  const { name, password } = await readJsonBody(request, loginBody);
  const address = addressOf(request);
  const seconds = failed.waitSeconds(name, address);
  if (seconds > 0) {
    throw new Refusal(429, "tooManyTries", { "retry-after": String(seconds) });
  }
  // Counted before it is checked: many tries at once must not all come before the first failure.
  failed.add(name, address);
  const login = findLogin(rules.logins, name);
  const isRight = await checks.check(password, login?.hash);
  if (isRight === "busy") {
    throw new Refusal(503, "busy", { "retry-after": "5" });
  }
  if (!isRight || login === undefined) {
    throw new Refusal(401, "wrongLogin");
  }
  failed.succeeded(name, address);
  // A new token with every login: one that somebody else has put into the browser before gives no access.
  endSession(request, sessions);
  sendNothing(response, 204, { "set-cookie": tokenCookie(request, path, sessions.begin(login)) });
}

export function logOut(
  request: IncomingMessage,
  response: ServerResponse,
  { memory, path }: { memory: LoginMemory; path: string },
): void {
  endSession(request, memory.sessions);
  sendNothing(response, 204, { "set-cookie": endedCookie(request, path) });
}

function endSession(request: IncomingMessage, sessions: Sessions): void {
  const token = readToken(request);
  if (token !== undefined) {
    sessions.end(token);
  }
}
