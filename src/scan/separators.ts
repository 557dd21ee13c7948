import type { ScanSeparator } from "../model/shapes.ts";
import { separator } from "./gs1/element-string.ts";

/** How scanners and programs show a control character, by its name or its number. */
export function inBrackets(names: readonly string[]): string[] {
  return names.flatMap((name) => [`<${name}>`, `{${name}}`, `[${name}]`]);
}

/** The pattern of any of these texts. */
export function anyOf(texts: readonly string[]): string {
  return texts.map((one) => one.replaceAll(/[\\^[\]{}()+]/g, "\\$&")).join("|");
}

/**
 * What scanners, and programs between them and Node-RED, send in place of the group separator. A GS1 code can contain
 * none of it: brackets, backslashes and the others are not in its character set, or nobody writes them so.
 */
export const replacements = [
  ...inBrackets(["GS", "FNC1", "F1", "0x1D", "1D", "029", "29"]),
  "(GS)",
  "(FNC1)",
  "\\x1D",
  "\\x{1D}",
  "\\u001D",
  "\\u{1D}",
  "^]",
  "Ctrl+]",
  "␝",
  "Alt+029",
  "Alt+0029",
  "Alt+29",
];

const usualPattern = anyOf(replacements);
const usual = new RegExp(usualPattern, "gi");
/** Most scans contain none of them, and need not be searched for each one. */
const first = /[<{[(\\^␝+]/;

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
export const doubtful = new RegExp(
  String.raw`\\F|%1[Dd]|&#(?:29|[Xx]1[Dd]);|_[Xx]001[Dd]_|\\035|[ #$@[-^\x60{-\u{10ffff}]|(?!${separator})\p{Cc}`,
  "u",
);
const everyDoubtful = new RegExp(doubtful, "gu");
/** How programs that draw codes want it to be written; where one of these is, so is its first character, which may be the separator. */
const drawn = ["~d029", "~1", "\\029", "\\29", "\\1D", "\\1d"];
/** A code with more different ones has none in place of its separator. */
const mostDoubtful = 8;

/** Those that are in a text. */
export function doubtfulReplacements(text: string): readonly string[] {
  const found = new Set(text.match(everyDoubtful));
  return found.size > mostDoubtful ? [] : [...found];
}

/** Those that are in a GS1 code, and may be a part of another one. */
export function possibleReplacements(text: string): readonly string[] {
  return [...doubtfulReplacements(text), ...drawn.filter((one) => text.includes(one))];
}

/** The pattern of a separator, or of what usually stands for it: behind a line end, other characters may begin another scan. */
export const anySeparator = `${separator}|${usualPattern}|\\||~|#|\\\\F|↔`;
