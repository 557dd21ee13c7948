import type { ScanElement } from "../../model/shapes.ts";
import { readDate, readLongDate } from "./dates.ts";
import type { ScanProblem } from "./rules.ts";
import type { Component, Identifier } from "./table.ts";

/**
 * Reads one element, and checks it as far as its application identifier is known; `ai` is null if none could be
 * separated from the value.
 */
export function readElement(identifier: Identifier | null, value: string, today: Date): ScanElement {
  const { ai = null, title = null, decimals = null, components = null } = identifier ?? {};
  if (components === null) {
    return { ai, title, value, checked: null };
  }
  const problem = problemIn(components, value, today);
  if (problem !== null) {
    return { ai, title, value, checked: false, problem };
  }
  const decoded = decode(decimals, components, value, today);
  return decoded === null
    ? { ai, title, value, checked: true }
    : { ai, title, value, checked: true, decoded };
}

function problemIn(components: readonly Component[], value: string, today: Date): ScanProblem | null {
  let position = 0;
  for (const { characters, least, most, isOptional, checks } of components) {
    if (position === value.length && isOptional) {
      return null;
    }
    const part = value.slice(position, position + most);
    if (!characters.test(part)) {
      return "characters";
    }
    if (part.length < least) {
      return "length";
    }
    for (const check of checks) {
      const problem = check(part, today);
      if (problem !== null) {
        return problem;
      }
    }
    position += part.length;
  }
  return position < value.length ? "length" : null;
}

/** The decoded value, if that is not its text: a number with its decimals, or a date. */
function decode(
  decimals: number | null,
  [first, second]: readonly Component[],
  value: string,
  today: Date,
): string | number | null {
  if (decimals !== null) {
    return shiftPoint(Number(value), decimals);
  }
  const rule = first?.rules[0];
  if (rule !== "yymmdd" && rule !== "yymmd0" && rule !== "yyyymmdd") {
    return null;
  }
  const length = rule === "yyyymmdd" ? 8 : 6;
  const date =
    length === 8 ? readLongDate(value.slice(0, 8)) : readDate(value.slice(0, 6), rule === "yymmd0", today);
  const rest = value.slice(length);
  switch (second?.rules[0]) {
    case "hhmi":
    case "hh":
      return rest === ""
        ? date
        : `${date}T${(rest.match(/../g) ?? []).join(":")}${rest.length === 2 ? ":00" : ""}`;
    case undefined:
      return date;
    default:
      // A period of two dates.
      return rest === "" ? date : `${date}/${readDate(rest, false, today)}`;
  }
}

const powersOf10 = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];

/**
 * 1250 with 3 decimals is 1.25. Both numbers of the division are whole and exact, so its result is the floating-point number that
 * the decimal text has too; multiplied by 0.001 it would not be.
 */
export function shiftPoint(whole: number, decimals: number): number {
  return whole / (powersOf10[decimals] ?? Number.NaN);
}
