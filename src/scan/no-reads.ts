import { isEmpty } from "./read-scans.ts";
import type { Reading } from "./read-code.ts";

/** The control code of a scan that identifies no parcel. */
export const noRead = "NO_READ";

/** Longer texts are no message of a scanner. */
const longestMessage = 100;
/** The longest value that names a place is that of a GLN; more is a number behind a ZIP code, whose FNC1 is missing. */
const longestPlace = 13;
/** What a ZIP code's barcode contains, if the scanner does not say that it is a GS1 code. */
const zipCode = /^420\s*\d{5}(?:-?\d{4})?$/;
/** DHL Express's second code, by the answers of its XML API: 2L, the country and postal code to ship to, and the product. */
const routingCode = /^2L[A-Z]{2}[^+]{0,20}\+\d{8}$/i;
/**
 * The codes by which scanners are set, which those of another maker read like any other: of Newland (user manual of the NLS-HR52, command
 * syntax), and of Cognex (DataMan Control Commands).
 */
const setupCode = /^(?:@[A-Z]{3}[A-Z0-9]{3}[!-~]{0,40}|\|\|[^\s>]{0,20}>.{0,80})$/;
/**
 * Some scanners say around the message which of them, when, or what they could not read; a shorter one may be a part of a number of one's
 * own, such as NR.
 */
const leastExplained = 5;
/** A day or a time of day, which scanners send with any message. */
const dayOrTime = /\b(?:\d{1,4}([-./])\d{1,2}\1\d{1,4}|\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?)\b/g;
const letterOrDigit = /[\p{L}\p{N}]/u;

/**
 * Reads a list of what identifies no parcel, separated by commas: texts, without regard to upper and lower case, spaces and
 * punctuation; application identifiers in parentheses, or their beginnings, for codes that have no other elements; and () for a
 * scan without a letter or a digit. (2L) is the code by which DHL Express routes a parcel, (setup) one by which a scanner is set.
 * `reference` is the element that becomes the reference: a code with it does identify a parcel.
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
  const messages = new Set(items.filter((item) => !/^\((?:\d*|2L|setup)\)$/i.test(item)).map(messageKey));
  // A time alone is no message.
  messages.delete("");
  const mayBeMessage = mayHave(messages);
  const ofOthers = items.flatMap((item) =>
    item.toUpperCase() === "(2L)" ? [routingCode] : item.toLowerCase() === "(setup)" ? [setupCode] : [],
  );

  const isPlace = (ai: string | null): boolean => ai !== null && places.some((place) => ai.startsWith(place));
  return (reading) => {
    const { text, aim, number, elements, carriers } = reading.scan;
    if (isEmpty(reading) || (hasEmpty && !letterOrDigit.test(text))) {
      return hasEmpty;
    }
    const mayBe = text.length <= longestMessage && mayBeMessage.test(text);
    if (mayBe && isMessage(text, messages)) {
      return true;
    }
    if (reading.kind === "other" || reading.isGuessed) {
      const isNumber = carriers.some(({ checkDigit }) => checkDigit === true);
      return (
        (aim === null && isPlace("420") && zipCode.test(text) && !isNumber) ||
        ofOthers.some((code) => code.test(text)) ||
        (mayBe && !isNumber && !reading.isEnvelope && hasMessage(text, messages))
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

/** Matches whatever has a message in it, and little else: it is looked for in every scan. */
function mayHave(messages: ReadonlySet<string>): RegExp {
  const between = String.raw`[^\p{L}\p{N}]`;
  const patterns = Array.from(messages)
    .filter((message) => letterOrDigit.test(message))
    .map((message) =>
      message.length === 1 ? `^(?:${message}|${between})+$` : Array.from(message).join(`${between}*`),
    );
  return new RegExp([...patterns, `^${between}+$`, String.raw`\P{ASCII}`].join("|"), "iu");
}

/** Whether a text is one of the messages: once, or several times, as of several readers. */
function isMessage(text: string, messages: ReadonlySet<string>): boolean {
  const key = messageKey(text);
  for (const message of messages) {
    if (key !== "" && key === message.repeat(key.length / message.length)) {
      return true;
    }
  }
  return false;
}

/** Whether a text explains one of the messages: "No Read d_1, E_2" (Microscan MS-4), or has it with the name of the reader. */
function hasMessage(text: string, messages: ReadonlySet<string>): boolean {
  // An address of the web is none, whatever words it has.
  const words = text.includes("://") ? [] : wordsOf(text);
  return words.some((_, from) => {
    let joined = "";
    return words.slice(from).some((word) => {
      joined += word;
      return joined.length >= leastExplained && messages.has(joined);
    });
  });
}

function wordsOf(text: string): string[] {
  return text
    .normalize("NFKC")
    .replaceAll(dayOrTime, " ")
    .toUpperCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "");
}

/** Only letters and digits count, if there are any: NO_READ is NoRead, and ??? is ?. */
function messageKey(text: string): string {
  return letterOrDigit.test(text) ? wordsOf(text).join("") : text.trim().replaceAll(/(.)\1+/gsu, "$1");
}
