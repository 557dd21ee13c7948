import { problem, type Problem } from "./problem.ts";

/** A timer of Node.js holds at most 2^31 - 1 ms: a longer one would fire at once. */
const mostSeconds = 2_000_000;
const mostMilliseconds = mostSeconds * 1000;
const mostPort = 65_535;

/**
 * The kinds of numbers: `timeout` seconds above 0, `wait` seconds from 0, `milliseconds` from 0, `hours` from 0,
 * `count` a whole number from 0, `amount` one from 1, `port` one of TCP, `quantity` any from 0, `positive` any above 0.
 */
export type NumberKind =
  | "timeout"
  | "wait"
  | "milliseconds"
  | "hours"
  | "count"
  | "amount"
  | "port"
  | "quantity"
  | "positive";

/** Reads a number as dialogs, flows and environment variables have it; null if it is blank. */
export function readNumber(
  kind: NumberKind,
  given: unknown,
): { readonly value: number | null } | { readonly problem: Problem } {
  if (given === undefined || given === null || (typeof given === "string" && given.trim() === "")) {
    return { value: null };
  }
  const value = typeof given === "number" || typeof given === "string" ? Number(given) : Number.NaN;
  if (!Number.isFinite(value)) {
    return { problem: problem("number") };
  }
  const found = problems[kind](value);
  return found === null ? { value } : { problem: found };
}

const problems: Readonly<Record<NumberKind, (value: number) => Problem | null>> = {
  timeout: (value) =>
    value > 0 && value <= mostSeconds ? null : problem("secondsAbove", { most: mostSeconds }),
  wait: (value) =>
    value >= 0 && value <= mostSeconds ? null : problem("secondsFrom", { most: mostSeconds }),
  milliseconds: (value) =>
    value >= 0 && value <= mostMilliseconds
      ? null
      : problem("milliseconds", { least: 0, most: mostMilliseconds }),
  hours: (value) => (value >= 0 ? null : problem("hours")),
  count: (value) => (Number.isSafeInteger(value) && value >= 0 ? null : problem("wholeNumber")),
  amount: (value) => (Number.isSafeInteger(value) && value >= 1 ? null : problem("oneOrMore")),
  port: (value) =>
    Number.isSafeInteger(value) && value >= 1 && value <= mostPort
      ? null
      : problem("portNumber", { most: mostPort }),
  quantity: (value) => (value === 0 || isOrdinary(value) ? null : problem("zeroOrMore")),
  positive: (value) => (isOrdinary(value) ? null : problem("aboveZero")),
};

/** Whether the number is above 0 and in a range in which sizes and weights can be. */
function isOrdinary(value: number): boolean {
  return value >= 1e-9 && value <= 1e9;
}
