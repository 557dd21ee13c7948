import type { Scan, ScanElement } from "../model/shapes.ts";
import type { CodeKind } from "../rules/scans.ts";
import { guessArticleNumber, readEanUpc, readItf14 } from "./article-numbers.ts";
import { findCarriers } from "./carriers/candidates.ts";
import type { Frame } from "./framing.ts";
import { readDigitalLink } from "./gs1/digital-link.ts";
import { readBracketed, readElementString, separator } from "./gs1/element-string.ts";
import { summarize } from "./gs1/summary.ts";
import { replaceSeparators } from "./separators.ts";
import { readAim, type Aim } from "./symbologies.ts";

export interface ReadingOptions {
  /** A text that the scanner sends in place of the group separator, in addition to the usual ones. */
  readonly separator?: string | undefined;
  /** For the century of dates; now if not given. */
  readonly today?: Date | undefined;
}

/** A scan, and the kind of code that it was read as. */
export interface Reading {
  readonly scan: Scan;
  readonly kind: CodeKind;
}

/** The content of a code, before the other fields are derived from it. */
interface Content {
  readonly kind: CodeKind;
  readonly text: string;
  readonly elements: readonly ScanElement[];
  readonly symbology?: string | null;
}

/** Reads one scan. It never fails: a code that is not a GS1 code is text. */
export function readCode(
  { raw, body }: Frame,
  { separator: own = "", today = new Date() }: ReadingOptions,
): Reading {
  const aim = readAim(body);
  const code = aim === undefined ? body : body.slice(aim.identifier.length);
  const { kind, text, elements, symbology } = readContent(code, aim, own, today);
  return {
    kind,
    scan: {
      raw,
      text,
      symbology: symbology ?? aim?.symbology ?? null,
      aim: aim?.identifier ?? null,
      elements: [...elements],
      ...summarize(elements),
      // The scanner has stated that this is the number of an article.
      carriers: aim?.content === "ean" || aim?.content === "ean8" ? [] : findCarriers(text, elements),
      duplicate: false,
    },
  };
}

function readContent(code: string, aim: Aim | undefined, own: string, today: Date): Content {
  switch (aim?.content) {
    case "gs1": {
      const text = replaceSeparators(code, own);
      return { kind: "gs1", text, elements: readElementString(text, today) };
    }
    case "ean":
    case "ean8":
      return readArticle(code, aim.content === "ean8", own, today);
    case "itf": {
      const found = readItf14(code);
      return found === undefined
        ? asText(code)
        : { kind: "ean", text: code, elements: [found.element], symbology: found.symbology };
    }
    case "any":
      return readAny(code, today) ?? asText(code);
    case undefined:
      return readAny(code, today) ?? guess(code, own, today) ?? asText(code);
  }
}

/** An EAN or UPC symbol, with the composite component that some scanners send with it. */
function readArticle(code: string, isEan8: boolean, own: string, today: Date): Content {
  const [digits = "", component] = code.split("|]e0", 2);
  const { element, symbology } = readEanUpc(digits, isEan8);
  if (component === undefined) {
    return { kind: "ean", text: code, elements: [element], symbology };
  }
  const behind = readElementString(replaceSeparators(component, own), today);
  return { kind: "ean", text: code, elements: [element, ...behind], symbology };
}

/** Content that any symbol can have and that identifies itself. */
function readAny(code: string, today: Date): Content | undefined {
  if (code.startsWith("(")) {
    const bracketed = readBracketed(code, today);
    return bracketed === null ? undefined : { kind: "gs1", text: code, elements: bracketed };
  }
  const link = readDigitalLink(code, today);
  return link === null ? undefined : { kind: "digitalLink", text: code, elements: link };
}

/** The application identifiers of keys that have a check digit. */
const key = /^(?:0[0-3]|41\d|80(?:06|17|18))/;

/**
 * Without an AIM identifier the kind of the code is not known. It is an element string if it has a group separator, or
 * if all of it fits together: it begins with a key that has a check digit, and nothing in it is wrong.
 */
function guess(code: string, own: string, today: Date): Content | undefined {
  const article = guessArticleNumber(code);
  if (article !== undefined) {
    return { kind: "ean", text: code, elements: [article] };
  }
  const text = replaceSeparators(code, own);
  const isDivided = text.includes(separator);
  const beginsWithKey = key.test(text);
  if (!isDivided && !beginsWithKey) {
    return undefined;
  }
  const elements = readElementString(text, today);
  const isElementString =
    text.startsWith(separator) ||
    (isDivided && elements[0]?.checked === true) ||
    (beginsWithKey && elements.every(({ checked }) => checked));
  return isElementString ? { kind: "gs1", text, elements } : undefined;
}

function asText(text: string): Content {
  return { kind: "other", text, elements: [] };
}
