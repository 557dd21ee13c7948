import { phrase, type Phrase } from "../errors/interpolation.ts";
import type { ScanElement } from "../model/shapes.ts";
import type { CodeKind } from "../rules/scans.ts";
import type { Reading } from "./read-code.ts";
import { scanError } from "./read-scans.ts";

/** Finds the reference in a text; null where it is not there. In time that is proportional to the text's length. */
export type FindReference = (text: string) => string | null;

/** Which part of a scan becomes the reference. */
export type ReferenceRule =
  | { readonly which: "auto" | "text" }
  | { readonly which: "ai"; readonly ai: string }
  | { readonly which: "pattern"; readonly find: FindReference };

export interface ReferenceRules {
  readonly rule: ReferenceRule;
  /** What a scan may be read as. */
  readonly kinds: readonly CodeKind[];
  /** Whether an element that is wrong may become the reference all the same. */
  readonly mayBeWrong: boolean;
}

/**
 * What identifies a parcel in a GS1 code, the best first; between the first and the second stands a carrier's tracking number
 * in an element for internal use. What has none of them is its own reference, as a whole.
 */
export const preferredElements = ["00", "402", "401", "400", "8004", "8003", "8006", "01"] as const;

/** The reference of a scan. Throws ERR_INPUT where there is none, or where the code cannot be trusted. */
export function chooseReference(reading: Reading, { rule, kinds, mayBeWrong }: ReferenceRules): string {
  const { scan, kind } = reading;
  if (!kinds.includes(kind)) {
    throw scanError("scanNotAccepted", { value: shown(scan.text), what: phrase(kindPhrases[kind]) });
  }
  const { reference, wrong } = find(reading, rule);
  if (wrong?.problem !== undefined && !mayBeWrong) {
    throw scanError("scanWrong", { value: shown(scan.text), problem: explainElement(wrong) });
  }
  if (reference === null || reference === "") {
    throw scanError("scanNoReference", { value: shown(scan.text) });
  }
  return reference;
}

interface Found {
  readonly reference: string | null;
  /** An element on which it depends and that is not as it should be. */
  readonly wrong?: ScanElement | undefined;
}

function find({ scan, kind }: Reading, rule: ReferenceRule): Found {
  const whole = (): Found => ({
    reference: printable(scan.text),
    wrong: scan.elements.find(({ problem }) => problem === "checkDigit" || kind === "ean"),
  });
  switch (rule.which) {
    case "text":
      return whole();
    case "pattern":
      return { ...whole(), reference: rule.find(scan.text) };
    case "ai":
      return ofElement(scan.elements.find(({ ai }) => ai === rule.ai)) ?? { reference: null };
    case "auto":
      return kind === "ean" || kind === "other" ? whole() : (bestOf({ scan, kind }) ?? whole());
  }
}

function bestOf({ scan: { elements, carriers } }: Reading): Found | undefined {
  const [first, ...others] = preferredElements;
  const withIdentifier = (ai: string) => ofElement(elements.find((element) => element.ai === ai));
  return (
    withIdentifier(first) ??
    trackingNumber() ??
    others.map(withIdentifier).find((found) => found !== undefined)
  );

  function trackingNumber(): Found | undefined {
    const internal = elements
      .filter(({ ai }) => /^9\d$/.test(ai ?? ""))
      .map(({ ai, value }) => `${ai}${value}`);
    const found = carriers.find(({ number, checkDigit }) => checkDigit === true && internal.includes(number));
    return found === undefined ? undefined : { reference: found.number };
  }
}

function ofElement(element: ScanElement | undefined): Found | undefined {
  return element === undefined
    ? undefined
    : { reference: element.value, wrong: element.checked === false ? element : undefined };
}

/** Control characters are no part of what people or other systems take for a reference. */
function printable(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, "").trim();
}

const kindPhrases = {
  gs1: "codeGs1",
  digitalLink: "codeDigitalLink",
  ean: "codeEan",
  other: "codeOther",
} as const satisfies Record<CodeKind, string>;

const elementPhrases = {
  length: "elementLength",
  characters: "elementCharacters",
  checkDigit: "elementCheckDigit",
  date: "elementDate",
  value: "elementValue",
} as const satisfies Record<NonNullable<ScanElement["problem"]>, string>;

/** What is wrong with an element, as a sentence. */
function explainElement({ ai, title, problem = "value" }: ScanElement): Phrase {
  const name = title === null ? `(${ai})` : `${title} (${ai})`;
  return phrase(elementPhrases[problem], { name });
}

/** How a code is shown in an error. */
export function shown(text: string): string {
  return text.slice(0, 60).toWellFormed();
}
