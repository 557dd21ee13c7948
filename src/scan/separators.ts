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
];

const usual = new RegExp(replacements.map((one) => one.replaceAll(/[\\^[\]{}]/g, "\\$&")).join("|"), "gi");
/** Most scans contain none of them, and need not be searched for each one. */
const first = /[<{[\\^␝]/;

/** Puts group separators in place of their replacements. */
export function replaceSeparators(code: string, own: string): string {
  const text = first.test(code) ? code.replaceAll(usual, separator) : code;
  return own === "" ? text : text.replaceAll(own, separator);
}
