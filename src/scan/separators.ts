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

const usual = new RegExp(replacements.map((one) => one.replaceAll(/[\\^[\]{}+]/g, "\\$&")).join("|"), "gi");
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
 * What keyboards and drivers make of the group separator, and what could also be a part of a code that is not of GS1. ↔ is what
 * Windows types for Alt+029. Of these, only # can be in a GS1 code, so no two of them can give a right reading.
 */
export const doubtfulReplacements = ["|", "~", "#", "\\F", "↔"] as const;

export const doubtful = /[|~#\\↔]/;
