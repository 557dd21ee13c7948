import * as v from "valibot";
import { jsonText } from "../model/json-text.ts";
import { recordLimits } from "../model/parse-json.ts";
import { longestNameLength } from "../rules/logins.ts";
import { isPasswordHash } from "./passwords.ts";

/** What somebody may do: look at packages, or also put them on hold and release them. */
export const rights = ["read", "manage"] as const;
export type Right = (typeof rights)[number];

export interface Person {
  readonly name: string;
  readonly right: Right;
}

/** A name, what it may do, and the hash of its password. */
export interface Login extends Person {
  readonly hash: string;
}

const mostLogins = 500;

const name = v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(longestNameLength));
const loginsSchema = v.pipe(
  v.array(
    v.strictObject({ name, right: v.picklist(rights), hash: v.pipe(v.string(), v.check(isPasswordHash)) }),
  ),
  v.maxLength(mostLogins),
);

/** Reads the logins of the credentials; undefined if they are not what a dialog has written. */
export function readLogins(text: string): readonly Login[] | undefined {
  if (text.trim() === "") {
    return [];
  }
  const read = v.safeParse(v.pipe(jsonText(recordLimits), loginsSchema), text);
  if (!read.success) {
    return undefined;
  }
  const names = new Set(read.output.map((login) => sameName(login.name)));
  return names.size === read.output.length ? read.output : undefined;
}

/** Names are compared without their case: people type them on the keyboards of many devices. */
export function findLogin(logins: readonly Login[], given: string): Login | undefined {
  const sought = sameName(given);
  return logins.find((login) => sameName(login.name) === sought);
}

export function sameName(text: string): string {
  return text.trim().normalize("NFKC").toLowerCase();
}
