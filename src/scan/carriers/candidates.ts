import type { ScanCarrier, ScanElement } from "../../model/shapes.ts";
import { separator } from "../gs1/element-string.ts";
import { formats, type Format } from "./formats.ts";

/** No tracking number is longer, with a routing code in front and spaces between its digits. */
const longest = 90;
/** Parts of one scan that are looked at. */
const mostParts = 32;

const byLength: ReadonlyMap<number, readonly Format[]> = new Map(
  formats
    .flatMap(({ lengths }) => lengths)
    .map((length) => [length, formats.filter(({ lengths }) => lengths.includes(length))]),
);

/**
 * Every tracking number that a scan can be, those with the right check digit first: formats of carriers overlap, and which of
 * them it is only the sender knows. A scan of several parts, such as a GS1 element string, can hold one in each part.
 */
export function findCarriers(text: string, elements: readonly ScanElement[]): ScanCarrier[] {
  const found = new Map<string, ScanCarrier>();
  for (const part of partsOf(text, elements)) {
    for (const format of byLength.get(part.length) ?? []) {
      const carrier = readNumber(format, part);
      if (carrier !== null) {
        found.set(`${carrier.carrier} ${carrier.service} ${carrier.number}`, carrier);
      }
    }
  }
  return [...found.values()].sort((one, other) => rank(one) - rank(other));
}

function rank({ checkDigit }: ScanCarrier): number {
  return checkDigit === true ? 0 : checkDigit === null ? 1 : 2;
}

/** Shipments, and what companies use as they like; other elements hold no tracking numbers, whatever their digits are. */
const mayHoldNumber = /^(?:00|40[0-2]|9\d)$/;

/** The texts that can be a tracking number, without spaces, which only people put in. */
function partsOf(text: string, elements: readonly ScanElement[]): Set<string> {
  const parts = text.length <= longest ? [text.replaceAll(separator, "")] : [];
  for (const { ai, value } of elements.slice(0, mostParts)) {
    if (ai !== null && mayHoldNumber.test(ai)) {
      // The numbers of some carriers begin with what GS1 takes for an identifier.
      parts.push(value, ai + value);
    }
  }
  if (elements.length === 0) {
    parts.push(...text.split(/\p{Cc}/u, mostParts));
  }
  return new Set(
    parts.filter(({ length }) => length <= longest).map((part) => part.replaceAll(/\s/g, "").toUpperCase()),
  );
}

function readNumber(format: Format, text: string): ScanCarrier | null {
  const { carrier, pattern, check, serviceOf } = format;
  const found = pattern.exec(text);
  if (found === null) {
    return null;
  }
  const { number = text, serial = "", check: digit = "", service: code } = found.groups ?? {};
  const service = code === undefined ? undefined : serviceOf?.(code);
  return {
    carrier,
    service: service ?? format.service,
    number,
    checkDigit: check === undefined ? null : check(serial, digit),
  };
}
