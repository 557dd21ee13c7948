import type { LabelDimensions, LabelWeight, Scan, ScanElement } from "../../model/shapes.ts";
import { hasGs1CheckDigit } from "./check-digits.ts";
import { shiftPoint } from "./element-string.ts";

type Summary = Pick<Scan, "sscc" | "gtin" | "lot" | "serial" | "expiry" | "labelDims" | "labelWeight">;

/**
 * The article number in front of every parcel's number of Australia Post (developers.auspost.com.au, label metadata). Some of these numbers
 * are an SSCC, which is in element 91 then.
 */
export const australiaPost = "99312650999998";
const ssccInside = /^00(\d{18})(?:420|$)/;

/** What most flows want to know of a code, from elements that are as they should be: of each kind the first one. */
export function summarize(elements: readonly ScanElement[]): Summary {
  let sscc: string | null = null;
  let article: string | null = null;
  let content: string | null = null;
  let lot: string | null = null;
  let serial: string | null = null;
  let expiryDate: string | null = null;
  let expiryTime: string | null = null;
  let sizes: Map<string, ScanElement> | undefined;
  for (const element of elements) {
    const { ai, value, checked } = element;
    if (ai === null || checked !== true) {
      continue;
    }
    switch (ai) {
      case "00":
        sscc ??= value;
        break;
      case "01":
        article ??= value;
        break;
      case "02":
        content ??= value;
        break;
      case "10":
        lot ??= value;
        break;
      case "21":
        serial ??= value;
        break;
      case "91":
        sscc ??= article === australiaPost ? ssccOf(value) : null;
        break;
      case "17":
        expiryDate ??= dateOf(element);
        break;
      case "7003":
        expiryTime ??= dateOf(element);
        break;
      default:
        if (ai.length === 4 && (ai.startsWith("33") || ai.startsWith("34"))) {
          setFirst((sizes ??= new Map<string, ScanElement>()), ai.slice(0, 3), element);
        }
    }
  }
  return {
    sscc,
    gtin: article ?? content,
    lot,
    serial,
    expiry: expiryDate ?? expiryTime,
    labelDims: sizes === undefined ? null : (sidesIn(sizes, "cm") ?? sidesIn(sizes, "in")),
    labelWeight: sizes === undefined ? null : weightIn(sizes),
  };
}

/** Weights and logistic dimensions by their first three digits: the fourth only says how many decimals there are. */
type Sizes = ReadonlyMap<string, ScanElement>;

function setFirst(sizes: Map<string, ScanElement>, kind: string, element: ScanElement): void {
  if (!sizes.has(kind)) {
    sizes.set(kind, element);
  }
}

function ssccOf(value: string): string | null {
  const inside = ssccInside.exec(value)?.[1] ?? null;
  return inside !== null && hasGs1CheckDigit(inside) ? inside : null;
}

function dateOf({ decoded }: ScanElement): string | null {
  return typeof decoded === "string" ? decoded : null;
}

function weightIn(sizes: Sizes): LabelWeight | null {
  const kilograms = numberIn(sizes, "330");
  if (kilograms !== null) {
    return { weight: kilograms, unit: "kg" };
  }
  const pounds = numberIn(sizes, "340");
  return pounds === null ? null : { weight: pounds, unit: "lb" };
}

type Unit = readonly [ai: string, factor: number];

/** The application identifiers of each side, without their last digit, and how much of our unit theirs is. */
const sides: Readonly<
  Record<LabelDimensions["unit"], Readonly<Record<"length" | "width" | "height", readonly Unit[]>>>
> = {
  cm: { length: [["331", 100]], width: [["332", 100]], height: [["333", 100]] },
  in: {
    length: inchesFeetYards("341", "342", "343"),
    width: inchesFeetYards("344", "345", "346"),
    height: inchesFeetYards("347", "348", "349"),
  },
};

function inchesFeetYards(inches: string, feet: string, yards: string): readonly Unit[] {
  return [
    [inches, 1],
    [feet, 12],
    [yards, 36],
  ];
}

function sidesIn(sizes: Sizes, unit: LabelDimensions["unit"]): LabelDimensions | null {
  const length = sideIn(sizes, sides[unit].length);
  const width = sideIn(sizes, sides[unit].width);
  const height = sideIn(sizes, sides[unit].height);
  return length === null && width === null && height === null ? null : { length, width, height, unit };
}

function sideIn(sizes: Sizes, units: readonly Unit[]): number | null {
  for (const [ai, factor] of units) {
    const side = numberIn(sizes, ai, factor);
    if (side !== null) {
      return side;
    }
  }
  return null;
}

/** The number of an element, times a whole number. */
function numberIn(sizes: Sizes, kind: string, factor = 1): number | null {
  const element = sizes.get(kind);
  // Multiplied as a whole number: 0.35 m are 35 cm, and not 35.00000000000001.
  return element === undefined ? null : shiftPoint(Number(element.value) * factor, Number(element.ai?.[3]));
}
