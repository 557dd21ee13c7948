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

/**
 * Reads a list of what identifies no parcel, separated by commas: texts, without regard to upper and lower case, spaces and
 * punctuation; application identifiers in parentheses, or their beginnings, for codes that have no other elements; and () for an
 * empty scan. `reference` is the element that becomes the reference: a code with it does identify a parcel.
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
  const messages = new Set(items.filter((item) => !/^\(\d*\)$/.test(item)).map(messageKey));

  const isPlace = (ai: string | null): boolean => ai !== null && places.some((place) => ai.startsWith(place));
  return (reading) => {
    const { text, aim, number, elements, carriers } = reading.scan;
    if (isEmpty(reading)) {
      return hasEmpty;
    }
    if (text.length <= longestMessage && messages.has(messageKey(text))) {
      return true;
    }
    if (reading.kind === "other" || reading.isGuessed) {
      const isNumber = carriers.some(({ checkDigit }) => checkDigit === true);
      return aim === null && isPlace("420") && zipCode.test(text.trim()) && !isNumber;
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

/** Only letters and digits count, if there are any: NO_READ is NoRead, and ??? is ?. */
function messageKey(text: string): string {
  const letters = text.replaceAll(/[^\p{L}\p{N}]/gu, "").toUpperCase();
  return letters === "" ? text.trim().replaceAll(/(.)\1+/gsu, "$1") : letters;
}
