import type { NodeAPI } from "node-red";
import * as v from "valibot";
import { longestPasswordLength, shortestPasswordLength } from "../../rules/logins.ts";
import { hashPassword } from "../../access/passwords.ts";
import { answerWith, readBody } from "./admin-route.ts";

const requestSchema = v.object({
  password: v.pipe(v.string(), v.minLength(shortestPasswordLength), v.maxLength(longestPasswordLength)),
});

/** The route that hashes the password of a new login, so that the dialog saves only the hash. */
export function serveLoginHashes(RED: NodeAPI): void {
  const allowed = RED.auth.needsPermission("dimensioner-store.write");
  const route = answerWith(async (request) => {
    const { password } = readBody(requestSchema, request);
    return { hash: await hashPassword(password) };
  });
  RED.httpAdmin.post("/dimensioner-store/login", allowed, route);
}
