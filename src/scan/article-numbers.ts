import type { ScanElement } from "../model/shapes.ts";
import { hasGs1CheckDigit, isDigits } from "./gs1/check-digits.ts";

/** The number of a retail article as an element: AI 01 with zeros in front, as GS1 says it is. */
interface ArticleNumber {
  readonly element: ScanElement;
  readonly symbology: string | null;
}

/**
 * Reads an EAN or UPC symbol without a separate add-on. By ISO/IEC 15424 it is 13 digits, whatever the symbol; many
 * scanners omit the zero of UPC-A, and send UPC-E as its own 8 digits.
 */
export function readEanUpc(digits: string, isEan8: boolean): ArticleNumber {
  // Two or five digits of an add-on follow in the modes E1 to E3; they are no part of the number.
  const main = !isEan8 && (digits.length === 15 || digits.length === 18) ? digits.slice(0, 13) : digits;
  if (isEan8) {
    return { element: articleElement(main, [8]), symbology: "EAN-8" };
  }
  if (main.length === 8) {
    const expanded = expandUpcE(main);
    return expanded === null
      ? { element: articleElement(main, [8]), symbology: "EAN-8" }
      : { element: articleElement(expanded, [12]), symbology: "UPC-E" };
  }
  const isUpc = main.length === 12 || main.startsWith("0");
  return { element: articleElement(main, [12, 13]), symbology: isUpc ? "UPC-A" : "EAN-13" };
}

/** The 14 digits of an ITF-14 symbol; undefined for another length, which is no article number. */
export function readItf14(digits: string): ArticleNumber | undefined {
  return digits.length === 14 && isDigits(digits)
    ? { element: articleElement(digits, [14]), symbology: "ITF-14" }
    : undefined;
}

/**
 * The article number that a plain number may be if the scanner does not state the symbol: of 8, 12, 13 or 14 digits,
 * with the right check digit. Eight digits that begin with 0 are more likely UPC-E: such EAN-8 numbers are for use
 * within a shop.
 */
export function guessArticleNumber(text: string): ScanElement | undefined {
  if (!isDigits(text) || ![8, 12, 13, 14].includes(text.length)) {
    return undefined;
  }
  const expanded = text.length === 8 && text.startsWith("0") ? expandUpcE(text) : null;
  const digits = expanded ?? text;
  return hasGs1CheckDigit(digits) ? articleElement(digits, [digits.length]) : undefined;
}

function articleElement(digits: string, lengths: readonly number[]): ScanElement {
  const element = { ai: "01", title: "GTIN", value: digits };
  if (!/^\d*$/.test(digits)) {
    return { ...element, checked: false, problem: "characters" };
  }
  if (!lengths.includes(digits.length)) {
    return { ...element, checked: false, problem: "length" };
  }
  const value = digits.padStart(14, "0");
  return hasGs1CheckDigit(digits)
    ? { ...element, value, checked: true }
    : { ...element, value, checked: false, problem: "checkDigit" };
}

/** Expands UPC-E to the 12 digits of UPC-A; null if it is not UPC-E or its check digit is wrong. */
function expandUpcE(digits: string): string | null {
  if (!/^[01]\d{7}$/.test(digits)) {
    return null;
  }
  const [system = "", a = "", b = "", c = "", d = "", e = "", last = "", check = ""] = digits;
  const body = {
    "0": `${a}${b}00000${c}${d}${e}`,
    "1": `${a}${b}10000${c}${d}${e}`,
    "2": `${a}${b}20000${c}${d}${e}`,
    "3": `${a}${b}${c}00000${d}${e}`,
    "4": `${a}${b}${c}${d}00000${e}`,
  }[last];
  const expanded = `${system}${body ?? `${a}${b}${c}${d}${e}0000${last}`}${check}`;
  return hasGs1CheckDigit(expanded) ? expanded : null;
}
