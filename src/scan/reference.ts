import { type Phrase, phrase } from "../errors/interpolation.ts";
import type { ScanElement } from "../model/shapes.ts";
import type { CodeKind } from "../rules/scans.ts";
import { opening } from "./envelope.ts";
import { hasSsccBehind, haveLostSeparators, separator } from "./gs1/element-string.ts";
import { australiaPost } from "./gs1/summary.ts";
import { type Reading, printable } from "./read-code.ts";
import { isEmpty, scanError } from "./read-scans.ts";

/** Finds the reference in a text; null if it is not there. It takes time in proportion to the text's length. */
export type FindReference = (text: string) => string | null;

/** Which part of a scan becomes the reference. */
export type ReferenceRule =
  | { readonly which: "auto" | "text" }
  | { readonly which: "ai"; readonly ai: string }
  | { readonly which: "pattern"; readonly find: FindReference };

export interface ReferenceRules {
  readonly rule: ReferenceRule;
  /** The kinds of codes that are accepted. */
  readonly kinds: readonly CodeKind[];
  /** Whether an invalid element may become the reference. */
  readonly mayBeWrong: boolean;
}

/**
 * The elements that identify a parcel in a GS1 code, the best first; those with a right SSCC or a carrier's tracking number have
 * the `number`. A code with none of them is its own reference, as a whole.
 */
export const preferredElements = ["00", "402", "401", "400", "8004", "8003", "8006", "01"] as const;

/** Chooses the reference of a scan. Throws ERR_INPUT if there is none, or if the code cannot be trusted. */
export function chooseReference(reading: Reading, { rule, kinds, mayBeWrong }: ReferenceRules): string {
  const { scan, kind, isGuessed } = reading;
  if (isEmpty(reading)) {
    throw scanError("scanEmpty");
  }
  const beginning = scan.text.includes(opening) ? opening : scan.text.slice(0, 4).trim();
  const value = shown(isUnreadable(reading) ? `${beginning}…` : scan.text);
  // What only seems to be of a kind may as well be any other number.
  if (!kinds.includes(kind) && !(isGuessed && kinds.includes("other"))) {
    throw scanError("scanNotAccepted", { value, what: phrase(kindPhrases[kind]) });
  }
  if (scan.keyboard !== null && (rule.which === "auto" || rule.which === "ai") && !mayBeWrong) {
    throw scanError("scanKeyboard", { value, name: scan.keyboard.layout, words: shown(scan.keyboard.text) });
  }
  const { reference, wrong, isElement = false } = find(reading, rule);
  if (
    (rule.which === "auto" || rule.which === "ai") &&
    !isElement &&
    !mayBeWrong &&
    hasLostSeparators(reading)
  ) {
    throw scanError("scanSeparatorLost", { value });
  }
  if (wrong?.problem !== undefined && !mayBeWrong) {
    throw scanError("scanWrong", { value, problem: explainElement(wrong) });
  }
  if (reference === null || reference === "") {
    throw scanError("scanNoReference", { value });
  }
  return reference;
}

interface Found {
  readonly reference: string | null;
  /** An invalid element on which it depends. */
  readonly wrong?: ScanElement | undefined;
  /** Whether it is a number of a parcel, or a valid element. */
  readonly isElement?: boolean;
}

/** Whether the scanner has dropped the separators of a GS1 code. */
function hasLostSeparators({ scan: { aim, text, elements }, kind, isGuessed }: Reading): boolean {
  return (
    kind === "gs1" && (aim !== null || isGuessed) && !text.includes(separator) && haveLostSeparators(elements)
  );
}

/** Who is named cannot be told from the rest of such a code. */
function isUnreadable({ scan, isEnvelope }: Reading): boolean {
  return isEnvelope && scan.elements.length === 0;
}

function find({ scan, kind, isEnvelope }: Reading, rule: ReferenceRule): Found {
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
      return (
        automatic() ??
        (isEnvelope
          ? { reference: null, wrong: scan.elements.find(({ checked }) => checked === false) }
          : whole())
      );
  }

  function automatic(): Found | undefined {
    const [first] = preferredElements;
    const isWrong = scan.elements.some(({ ai, checked }) => ai === first && checked !== true);
    if (scan.number !== null && !isWrong) {
      return { reference: scan.number, isElement: true };
    }
    const candidates = kind === "ean" ? [] : preferredElements;
    return candidates
      .map((ai) =>
        ofElement(scan.elements.find(({ ai: one, value }) => one === ai && value !== australiaPost)),
      )
      .find((found) => found !== undefined);
  }
}

function ofElement(element: ScanElement | undefined): Found | undefined {
  return element === undefined
    ? undefined
    : element.checked === false
      ? { reference: element.value, wrong: element }
      : { reference: element.value, isElement: !hasSsccBehind(element) };
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

/** Describes in a sentence what is wrong with an element. */
function explainElement({ ai, di, title, problem = "value" }: ScanElement): Phrase {
  const id = ai ?? di;
  const name = [title ?? [], id === undefined ? [] : `(${id})`].flat().join(" ");
  return phrase(elementPhrases[problem], { name });
}

/** Shows a code in an error. */
export function shown(text: string): string {
  return text.slice(0, 60).toWellFormed();
}
