import { isOpenHttp, readAddress, readBaseUrl } from "../rules/addresses.ts";
import {
  fileNameProblem,
  headerNameProblem,
  layoutProblem,
  readPath,
  registrationCodeProblem,
} from "../rules/names.ts";
import { readNumber, type NumberKind } from "../rules/numbers.ts";
import type { Problem } from "../rules/problem.ts";
import { sayProblem, shared } from "./texts.ts";

/**
 * Says what is wrong with a value, in a sentence for people; null when it can be used. `now` tells how the node's other
 * properties are set. The rules are those by which the runtime reads the same values.
 */
export type Check = (value: string, now: (property: string) => string) => string | null;

export { isOpenHttp };

const environment = /^\$(?:\{[^}]+\}|\([^)]+\))$/;

/** Node-RED replaces `${NAME}` when it deploys: what it will be is not known here. */
export function isEnvironment(value: string): boolean {
  return environment.test(value);
}

/** For a value that has to be given: `problem` says so, and what is given has to pass the other check. */
export function required(problem: string, check: Check = () => null): Check {
  return (value, now) => (value.trim() === "" ? shared(`problem.${problem}`) : check(value, now));
}

/** A check by a rule that says what is wrong, and null where nothing is. */
const by =
  (problemOf: (value: string, now: (property: string) => string) => Problem | null): Check =>
  (value, now) => {
    const problem = problemOf(value, now);
    return problem === null ? null : sayProblem(problem);
  };

const number = (kind: NumberKind): Check =>
  by((value) => {
    const read = readNumber(kind, value);
    return "problem" in read ? read.problem : null;
  });

/** Seconds, 0 or more. */
export const wait = number("wait");
/** Seconds above 0. */
export const timeout = number("timeout");
export const hours = number("hours");
/** A whole number, 0 or more. */
export const count = number("count");
/** A whole number, 1 or more. */
export const amount = number("amount");

export function oneOf(choices: readonly string[]): Check {
  return (value) => (choices.includes(value) ? null : shared("problem.choice"));
}

export const registrationCode = by(registrationCodeProblem);
export const fileName = by(fileNameProblem);
export const headerName = by(headerNameProblem);
export const layout = by(layoutProblem);

export const webhookPath = by((value) => {
  const read = readPath(value);
  return "problem" in read ? read.problem : null;
});

export const deviceAddress = by((value) => {
  const read = readAddress(value);
  return "problem" in read ? read.problem : null;
});

export const cloudAddress = by((value, now) => {
  const read = readBaseUrl(value, now("allowHttp") === "true");
  return "problem" in read ? read.problem : null;
});
