import type { ScanElement } from "../../model/shapes.ts";
import { hasGs1CheckDigit } from "./check-digits.ts";
import {
  type Component,
  type Identifier,
  type ScanProblem,
  dayOfScan,
  identifierAt,
  identifierNamed,
  identifiers,
  readDate,
  readLongDate,
} from "./table.ts";

/** The group separator, which scanners send for FNC1 between elements. */
export const separator = "\x1d";

/**
 * The elements of a GS1 element string. Nothing is lost: the text behind an unknown application identifier is its value
 * up to the next separator, and a value of the wrong length is an element all the same.
 */
export function readElementString(data: string, today: Date): ScanElement[] {
  const elements: ScanElement[] = [];
  let position = 0;
  let end = -1;
  while (position < data.length) {
    if (data[position] === separator) {
      position++;
      continue;
    }
    if (end < position) {
      const next = data.indexOf(separator, position);
      end = next < 0 ? data.length : next;
    }
    const found = identifierAt(data, position);
    // An identifier cannot contain a separator.
    const identifier = found !== null && position + found.ai.length <= end ? found : null;
    const start = position + (identifier?.ai.length ?? 0);
    const predefined = identifier?.predefinedLength ?? null;
    position = predefined === null ? end : Math.min(end, start + predefined);
    elements.push(readElement(identifier, data.slice(start, position), today));
  }
  return elements;
}

/**
 * Whether the elements of a code without separators have lost them: one of variable length reaches to the end, so it has more
 * characters than any can have, is wrong although it and right elements can be made of it, or ends with an SSCC.
 */
export function haveLostSeparators(elements: readonly ScanElement[]): boolean {
  return elements.some((element) => {
    const { ai, value, problem } = element;
    const identifier = identifierNamed(ai ?? "");
    const most = identifier.components?.reduce((sum, one) => sum + one.most, 0) ?? Infinity;
    return (
      identifier.predefinedLength === null &&
      (problem === undefined ? hasSsccBehind(element) : value.length > most || isSeveral(identifier, value))
    );
  });
}

/**
 * Whether the value of an element has an SSCC with its application identifier behind it, as if the separator between them were lost. What
 * a company has for itself may look like that.
 */
export function hasSsccBehind({ ai, value }: ScanElement): boolean {
  const end = value.slice(-20);
  return (
    value.length > end.length &&
    ai?.startsWith("9") === false &&
    /^00\d{18}$/.test(end) &&
    hasGs1CheckDigit(end)
  );
}

/** Whether a value is that of an element and further elements, all of them right. */
function isSeveral(identifier: Identifier, value: string): boolean {
  const now = dayOfScan();
  for (let end = 1; end < value.length; end++) {
    if (
      readElement(identifier, value.slice(0, end), now).checked === true &&
      readElementString(value.slice(end), now).every(({ checked }) => checked === true)
    ) {
      return true;
    }
  }
  return false;
}

/** Whether an element is about the addressee: name, address and telephone, 4300 to 4309. */
export function isOfAddressee({ ai }: ScanElement): boolean {
  return ai?.length === 4 && ai.startsWith("430");
}

/** Writes elements as scanners send them, with a separator behind each value that may have several lengths. */
export function writeElementString(elements: readonly ScanElement[]): string {
  const parts = elements.map(({ ai, value }, place) => {
    const isDelimited = place < elements.length - 1 && identifierNamed(ai ?? "").predefinedLength === null;
    return `${ai ?? ""}${value}${isDelimited ? separator : ""}`;
  });
  return parts.join("");
}

/**
 * The elements of the human-readable form, "(01)09501101530003(10)ABC", with or without spaces in the brackets and behind them,
 * as labels have it; null for any other text. A bracket that begins
 * no application identifier belongs to the value, as does one behind a backslash.
 */
export function readBracketed(text: string, today: Date): ScanElement[] | null {
  const marks = [...text.matchAll(/(?<!\\)\( {0,2}(\d{2,4}) {0,2}\)/g)];
  const [first] = marks;
  if (first === undefined || text.slice(0, first.index).trim() !== "" || !identifiers.has(first[1] ?? "")) {
    return null;
  }
  const elements = marks.map((mark, index) => {
    const value = text.slice(mark.index + mark[0].length, marks[index + 1]?.index);
    return readElement(identifierNamed(mark[1] ?? ""), withoutSpaces(value.replaceAll("\\(", "(")), today);
  });
  // A number in brackets within a text does not make it an element string.
  return elements[0]?.problem === "characters" ? null : elements;
}

/** No GS1 code has a space. */
function withoutSpaces(value: string): string {
  return /^[\d\s]*$/.test(value) ? value.replaceAll(/\s/g, "") : value.trim();
}

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
