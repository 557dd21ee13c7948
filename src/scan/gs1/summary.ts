import type { LabelDimensions, LabelWeight, Scan, ScanElement } from "../../model/shapes.ts";
import { shiftPoint } from "./element.ts";

type Summary = Pick<Scan, "sscc" | "gtin" | "lot" | "serial" | "expiry" | "labelDims" | "labelWeight">;

/** The first element of each kind that is as it should be, by its application identifier. */
type Found = ReadonlyMap<string, ScanElement>;

/** What most flows want to know of a code, from elements that are as they should be. */
export function summarize(elements: readonly ScanElement[]): Summary {
  const found = new Map<string, ScanElement>();
  // Weights and logistic dimensions by their first three digits: the fourth only says how many decimals there are.
  const sizes = new Map<string, ScanElement>();
  for (const element of elements) {
    const { ai, checked } = element;
    if (ai !== null && checked === true) {
      const isSize = ai.length === 4 && (ai.startsWith("33") || ai.startsWith("34"));
      setFirst(isSize ? sizes : found, isSize ? ai.slice(0, 3) : ai, element);
    }
  }
  const valueOf = (ai: string) => found.get(ai)?.value ?? null;
  return {
    sscc: valueOf("00"),
    gtin: valueOf("01") ?? valueOf("02"),
    lot: valueOf("10"),
    serial: valueOf("21"),
    expiry: dateIn(found, "17") ?? dateIn(found, "7003"),
    labelDims: sizes.size === 0 ? null : (sidesIn(sizes, "cm") ?? sidesIn(sizes, "in")),
    labelWeight: sizes.size === 0 ? null : weightIn(sizes),
  };
}

function setFirst(found: Map<string, ScanElement>, kind: string, element: ScanElement): void {
  if (!found.has(kind)) {
    found.set(kind, element);
  }
}

function dateIn(found: Found, ai: string): string | null {
  const decoded = found.get(ai)?.decoded;
  return typeof decoded === "string" ? decoded : null;
}

function weightIn(sizes: Found): LabelWeight | null {
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

function sidesIn(sizes: Found, unit: LabelDimensions["unit"]): LabelDimensions | null {
  const length = sideIn(sizes, sides[unit].length);
  const width = sideIn(sizes, sides[unit].width);
  const height = sideIn(sizes, sides[unit].height);
  return length === null && width === null && height === null ? null : { length, width, height, unit };
}

function sideIn(sizes: Found, units: readonly Unit[]): number | null {
  for (const [ai, factor] of units) {
    const side = numberIn(sizes, ai, factor);
    if (side !== null) {
      return side;
    }
  }
  return null;
}

/** The number of an element, times a whole number. */
function numberIn(sizes: Found, kind: string, factor = 1): number | null {
  const element = sizes.get(kind);
  // Multiplied as a whole number: 0.35 m are 35 cm, and not 35.00000000000001.
  return element === undefined
    ? null
    : shiftPoint(String(Number(element.value) * factor), Number(element.ai?.[3]));
}
