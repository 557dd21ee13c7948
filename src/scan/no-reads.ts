import { isEmpty } from "./read-scans.ts";
import type { Reading } from "./read-code.ts";

/** The control code of a scan that identifies no parcel. */
export const noRead = "NO_READ";

/** Longer texts are no message of a scanner. */
const longestMessage = 100;
/** The longest value that names a place is that of a GLN; more is a number behind a ZIP code, whose FNC1 is missing. */
const longestPlace = 13;
/** What a ZIP code's barcode contains, if the scanner does not say that it is a GS1 code. */
const zipCode = /^420\s*\d{5}(?:\d{4})?$/;
/** DHL Express's second code, by the answers of its XML API: 2L, the country and postal code to ship to, and the product. */
const routingCode = /^2L[A-Z]{2}[^+]{0,20}\+\d{8}$/i;
/** Some scanners say behind the message what they could not read; a shorter one may begin a number of one's own, such as NR. */
const leastExplained = 5;

/**
 * Reads a list of what identifies no parcel, separated by commas: texts, without regard to upper and lower case, spaces and
 * punctuation; application identifiers in parentheses, or their beginnings, for codes that have no other elements; and () for an
 * empty scan. (2L) is the code by which DHL Express routes a parcel. `reference` is the element that becomes the reference: a code with
 * it does identify a parcel.
 */
export function readNoReads(given: string, reference: string | null): (reading: Reading) => boolean {
  const items = given
    .split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "");
  const hasEmpty = items.includes("()");
  const places = items
    .flatMap((item) => /^\((\d{2,4})\)$/.exec(item)?.[1] ?? [])
    .filter((place) => !(reference?.startsWith(place) ?? false));
  const messages = new Set(items.filter((item) => !/^\((?:\d*|2L)\)$/i.test(item)).map(messageKey));
  const hasRouting = items.some((item) => item.toUpperCase() === "(2L)");

  const isPlace = (ai: string | null): boolean => ai !== null && places.some((place) => ai.startsWith(place));
  return (reading) => {
    const { text, aim, number, elements, carriers } = reading.scan;
    if (isEmpty(reading)) {
      return hasEmpty;
    }
    if (text.length <= longestMessage && isMessage(text, messages)) {
      return true;
    }
    if (reading.kind === "other" || reading.isGuessed) {
      const isNumber = carriers.some(({ checkDigit }) => checkDigit === true);
      return (
        (aim === null && isPlace("420") && zipCode.test(text) && !isNumber) ||
        (hasRouting && routingCode.test(text))
      );
    }
    return (
      number === null &&
      elements.length > 0 &&
      elements.every(
        ({ ai, value, checked }) => isPlace(ai) && checked === true && value.length <= longestPlace,
      )
    );
  };
}

/** Whether a text is one of the messages, or begins with one and explains it: "No Read d_1, E_2" (Microscan MS-4). */
function isMessage(text: string, messages: ReadonlySet<string>): boolean {
  let words = "";
  return (
    messages.has(messageKey(text)) ||
    text.split(/[^\p{L}\p{N}]+/u).some((word) => {
      words += word.toUpperCase();
      return words.length >= leastExplained && messages.has(words);
    })
  );
}

/** Only letters and digits count, if there are any: NO_READ is NoRead, and ??? is ?. */
function messageKey(text: string): string {
  const letters = text.replaceAll(/[^\p{L}\p{N}]/gu, "").toUpperCase();
  return letters === "" ? text.trim().replaceAll(/(.)\1+/gsu, "$1") : letters;
}
