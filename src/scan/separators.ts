import { separator } from "./gs1/element-string.ts";

/**
 * What scanners, and programs between them and Node-RED, send where they cannot send the group separator. None of it can be
 * in a GS1 code: brackets, backslashes and the others are no characters of it.
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
/** Most scans have none of them, and need not be searched for each. */
const first = /[<{[\\^␝]/;

/** The code with the group separator where its replacements stand. */
export function replaceSeparators(code: string, own: string): string {
  const text = first.test(code) ? code.replaceAll(usual, separator) : code;
  return own === "" ? text : text.replaceAll(own, separator);
}
