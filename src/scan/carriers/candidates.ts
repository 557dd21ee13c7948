import type { ScanCarrier, ScanElement } from "../../model/shapes.ts";
import { separator } from "../gs1/element-string.ts";
import { type Format, formats } from "./formats.ts";

/** The length of the longest tracking number, including the routing code in front of it. */
const longest = Math.max(...formats.flatMap(({ lengths }) => lengths));
/** The length of the longest text that can be one if there are spaces between its digits. */
const longestWritten = 2 * longest;
/** How many parts of one scan are examined. */
const mostParts = 32;

/** The formats by length and first character, so that most texts are compared with no pattern, and none with many. */
const byLength: readonly ReadonlyMap<string, readonly Format[]>[] = indexFormats();

function indexFormats(): Map<string, Format[]>[] {
  const index: Map<string, Format[]>[] = [];
  for (const format of formats) {
    for (const length of format.lengths) {
      const byFirst = (index[length] ??= new Map<string, Format[]>());
      for (const first of format.first) {
        byFirst.set(first, [...(byFirst.get(first) ?? []), format]);
      }
    }
  }
  return index;
}

/**
 * Returns every tracking number that a scan can be, those with a correct check digit first. There can be several, because the
 * formats of carriers overlap and only the sender knows which one it is. If a scan has several parts, as a GS1 element string
 * has, each part can be one.
 */
export function findCarriers(text: string, elements: readonly ScanElement[]): ScanCarrier[] {
  const found: ScanCarrier[] = [];
  const parts = partsOf(text, elements);
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index] ?? "";
    const possible = byLength[part.length]?.get(part.charAt(0));
    if (possible !== undefined && parts.indexOf(part) === index) {
      for (const format of possible) {
        const carrier = readNumber(format, part);
        if (carrier !== null && !found.some((other) => isSame(other, carrier))) {
          found.push(carrier);
        }
      }
    }
  }
  return found.length < 2 ? found : found.sort((one, other) => rank(one) - rank(other));
}

function isSame(one: ScanCarrier, other: ScanCarrier): boolean {
  return one.number === other.number && one.service === other.service && one.carrier === other.carrier;
}

function rank({ checkDigit }: ScanCarrier): number {
  return checkDigit === true ? 0 : checkDigit === null ? 1 : 2;
}

const separatorsAndSpaces = new RegExp(`[\\s${separator}]`, "g");

/** Spaces and lower-case letters, which are in a number only if a person has typed it, and separators. */
const written = /[\sa-z\p{Cc}]/u;

/** The elements of a shipment, and those for internal use of a company. No other element is a tracking number. */
const mayHoldNumber = /^(?:00|40[0-2]|9\d)$/;

/** Returns the texts that can be a tracking number: a few dozen at most. */
function partsOf(text: string, elements: readonly ScanElement[]): string[] {
  const parts: string[] = [];
  const add = (part: string): void => {
    if (part.length <= longestWritten) {
      parts.push(written.test(part) ? part.replaceAll(separatorsAndSpaces, "").toUpperCase() : part);
    }
  };
  // A GS1 code has no spaces, only a separator after each element.
  if (elements.length === 0 || text.length <= longest + elements.length) {
    add(text);
  }
  for (const { ai, value } of elements.slice(0, mostParts)) {
    if (ai !== null && mayHoldNumber.test(ai)) {
      // The numbers of some carriers begin with digits that are also a GS1 application identifier.
      add(value);
      add(ai + value);
    }
  }
  if (elements.length === 0 && parts[0] !== text) {
    text.split(/\p{Cc}/u, mostParts).forEach(add);
  }
  return parts;
}

function readNumber(format: Format, text: string): ScanCarrier | null {
  const { carrier, pattern, check, serviceOf } = format;
  const found = pattern.exec(text);
  if (found === null) {
    return null;
  }
  const number = found[1] ?? text;
  const { serialFrom = 0, checkAt = number.length - 1 } = format;
  return {
    carrier,
    service: serviceOf === undefined ? format.service : serviceOf(number),
    number,
    checkDigit: check === undefined ? null : check(number, serialFrom, checkAt),
  };
}
