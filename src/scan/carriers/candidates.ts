import type { ScanCarrier, ScanElement } from "../../model/shapes.ts";
import { separator } from "../gs1/element-string.ts";
import { type Format, formats, gs1, modulo7 } from "./formats.ts";

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

const routing = /^420(?:\d{5}|\d{9})$/;

/** What a scan has of tracking numbers. */
export interface TrackingNumbers {
  /** Every one that it can be, those with a correct check digit first. */
  readonly carriers: ScanCarrier[];
  /** The one that it is, as the carrier prints it: with a correct check digit, and in a place for it. Null if there is none. */
  readonly number: string | null;
}

/**
 * Finds the tracking numbers of a scan. There can be several, because the formats of carriers overlap and only the sender knows
 * which one it is. If a scan has several parts, as a GS1 element string has, each part can be one.
 */
export function findCarriers(text: string, elements: readonly ScanElement[]): TrackingNumbers {
  const carriers: ScanCarrier[] = [];
  let number: string | null = null;
  let isRouted = false;
  const parts = partsOf(text, elements);
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index] ?? "";
    const possible = byLength[part.length]?.get(part.charAt(0));
    if (possible === undefined || parts.indexOf(part) !== index) {
      continue;
    }
    for (const format of possible) {
      const carrier = readNumber(format, part);
      if (carrier === null) {
        continue;
      }
      // A number behind a ZIP code fits by more than its length: 5 or 9 digits behind 420 are in front of all of it.
      const isBehindZip = routing.test(part.slice(0, part.lastIndexOf(carrier.number)));
      const isBetter = number === null || (isBehindZip && !isRouted);
      const isRight = carrier.checkDigit === true || format.isCertain === true;
      if (isRight && isBetter && isPlaceOfNumber(part, text, parts, elements)) {
        ({ number } = carrier);
        isRouted = isBehindZip;
      }
      if (!carriers.some((other) => isSame(other, carrier))) {
        carriers.push(carrier);
      }
    }
  }
  if (carriers.length > 1) {
    carriers.sort((one, other) => rank(one) - rank(other));
  }
  return { carriers, number };
}

/**
 * Whether a part of a scan is a place for the tracking number. In a GS1 code it is an element for internal use with its identifier;
 * or the whole code, where the scanner has dropped the FNC1 behind the ZIP code, which is too long then, or says GS1 of another code.
 */
function isPlaceOfNumber(
  part: string,
  text: string,
  parts: readonly string[],
  elements: readonly ScanElement[],
): boolean {
  const whole = text.startsWith(separator) ? text.slice(1) : text;
  const isRouted = whole.startsWith("420");
  const [first] = elements;
  // What begins with no application identifier is not of GS1, although the scanner says so.
  if (first === undefined || (first.ai === null && elements.length === 1)) {
    return part === parts[0] || isRouted;
  }
  const isInternal = elements.some(
    ({ ai, value }) => ai?.length === 2 && ai.startsWith("9") && part === ai + value.toUpperCase(),
  );
  return (
    isInternal ||
    (part === whole && first.problem === "length" && (isRouted || hasCheckDigitOfCarrier(whole)))
  );
}

/**
 * Whether a number is certainly rather a carrier's than an article's: it has the length and the check digit of a carrier that does
 * not calculate it as GS1 does. A remainder of 7 says less than the article's own check digit: it fits one number in seven.
 */
export function hasCheckDigitOfCarrier(text: string): boolean {
  const upper = text.toUpperCase();
  const possible = byLength[text.length]?.get(upper.charAt(0)) ?? [];
  return possible.some(
    (format) =>
      format.check !== gs1 && format.check !== modulo7 && readNumber(format, upper)?.checkDigit === true,
  );
}

function isSame(one: ScanCarrier, other: ScanCarrier): boolean {
  return one.number === other.number && one.service === other.service && one.carrier === other.carrier;
}

function rank({ checkDigit }: ScanCarrier): number {
  return checkDigit === true ? 0 : checkDigit === null ? 1 : 2;
}

const separatorsAndSpaces = new RegExp(`[\\s\\p{Cf}${separator}]`, "gu");

/** Spaces, lower-case letters and what has no width, which are in a number only if a person has typed or copied it, and separators. */
const written = /[^!-)+-`{-~]/;
/** The characters at which Code 39 starts and stops, which some scanners send. */
export const startAndStop = /^\*([^*]+)\*$/;

/** The elements of a shipment, and those for internal use of a company. No other element is a tracking number. */
const mayHoldNumber = /^(?:00|40[0-2]|9\d)$/;

/** Returns the texts that can be a tracking number: a few dozen at most. */
function partsOf(text: string, elements: readonly ScanElement[]): string[] {
  const parts: string[] = [];
  const add = (part: string): void => {
    if (part.length <= longestWritten) {
      parts.push(
        written.test(part)
          ? part.replaceAll(separatorsAndSpaces, "").replace(startAndStop, "$1").toUpperCase()
          : part,
      );
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
  const { serialFrom = 0, checkAt = number.length - 1, printed } = format;
  return {
    carrier,
    service: serviceOf === undefined ? format.service : serviceOf(number),
    number: printed === undefined ? number : printed(number),
    checkDigit: check === undefined ? null : check(number, serialFrom, checkAt),
  };
}
