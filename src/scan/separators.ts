import type { ScanSeparator } from "../model/shapes.ts";
import { separator } from "./gs1/element-string.ts";

/**
 * What scanners, and programs between them and Node-RED, send in place of the group separator. A GS1 code can contain
 * none of it: brackets, backslashes and the others are not in its character set.
 */
export const replacements = [
  "<GS>",
  "{GS}",
  "[GS]",
  "<FNC1>",
  "{FNC1}",
  "[FNC1]",
  "<0x1D>",
  "{0x1D}",
  "\\x1D",
  "\\u001D",
  "^]",
  "␝",
  "Alt+029",
];

const usualPattern = replacements.map((one) => one.replaceAll(/[\\^[\]{}+]/g, "\\$&")).join("|");
const usual = new RegExp(usualPattern, "gi");
/** Most scans contain none of them, and need not be searched for each one. */
const first = /[<{[\\^␝+]/;

interface Replaced {
  readonly text: string;
  readonly separator: ScanSeparator | null;
}

/** Puts group separators in place of their replacements. */
export function replaceSeparators(code: string, own: string): Replaced {
  const found = first.test(code) ? code.match(usual)?.[0] : undefined;
  const text = found === undefined ? code : code.replaceAll(usual, separator);
  return {
    text: own === "" ? text : text.replaceAll(own, separator),
    separator: found === undefined ? null : { found, as: separator },
  };
}

/**
 * What keyboards, drivers and programs make of the group separator, and what could also be a part of a code that is not of GS1: ↔ is what
 * Windows types for Alt+029, %1D and the like are of URLs, XML, spreadsheets and programs' texts, and the others are all characters that
 * no GS1 code has, such as a space. Only # and %1D can be in one.
 */
export const doubtful =
  /\\F|%1[Dd]|&#(?:29|[Xx]1[Dd]);|_[Xx]001[Dd]_|\\(?:035|x\{1[Dd]\})|[ #$@[-^`{-~\xa0-\u{10ffff}]/u;
const everyDoubtful = new RegExp(doubtful, "gu");
/** A code with more different ones has none in place of its separator. */
const mostDoubtful = 8;

/** Those that are in a text. */
export function doubtfulReplacements(text: string): readonly string[] {
  const found = new Set(text.match(everyDoubtful));
  return found.size > mostDoubtful ? [] : [...found];
}

/** The pattern of a separator, or of what usually stands for it: behind a line end, other characters may begin another scan. */
export const anySeparator = `${separator}|${usualPattern}|\\||~|#|\\\\F|↔`;
