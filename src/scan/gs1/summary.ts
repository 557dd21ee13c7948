import type { LabelDimensions, LabelWeight, Scan, ScanElement } from "../../model/shapes.ts";
import { shiftPoint } from "./element.ts";

type Summary = Pick<Scan, "sscc" | "gtin" | "lot" | "serial" | "expiry" | "labelDims" | "labelWeight">;

/** The first element of each kind that is as it should be, by its application identifier; see kindOf. */
type Found = ReadonlyMap<string, ScanElement>;

/** What most flows want to know of a code, from elements that are as they should be. */
export function summarize(elements: readonly ScanElement[]): Summary {
  const found = new Map<string, ScanElement>();
  for (const element of elements) {
    const kind = element.checked === true && element.ai !== null ? kindOf(element.ai) : undefined;
    if (kind !== undefined && !found.has(kind)) {
      found.set(kind, element);
    }
  }
  const valueOf = (ai: string) => found.get(ai)?.value ?? null;
  return {
    sscc: valueOf("00"),
    gtin: valueOf("01") ?? valueOf("02"),
    lot: valueOf("10"),
    serial: valueOf("21"),
    expiry: dateIn(found, "17") ?? dateIn(found, "7003"),
    labelDims: sidesIn(found, "cm") ?? sidesIn(found, "in"),
    labelWeight: weightIn(found),
  };
}

/** Of weights and logistic dimensions the first three digits: the fourth only says how many decimals there are. */
function kindOf(ai: string): string {
  return ai.length === 4 && (ai.startsWith("33") || ai.startsWith("34")) ? ai.slice(0, 3) : ai;
}

function dateIn(found: Found, ai: string): string | null {
  const decoded = found.get(ai)?.decoded;
  return typeof decoded === "string" ? decoded : null;
}

function weightIn(found: Found): LabelWeight | null {
  const kilograms = numberIn(found, "330");
  if (kilograms !== null) {
    return { weight: kilograms, unit: "kg" };
  }
  const pounds = numberIn(found, "340");
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

function sidesIn(found: Found, unit: LabelDimensions["unit"]): LabelDimensions | null {
  const length = sideIn(found, sides[unit].length);
  const width = sideIn(found, sides[unit].width);
  const height = sideIn(found, sides[unit].height);
  return length === null && width === null && height === null ? null : { length, width, height, unit };
}

function sideIn(found: Found, units: readonly Unit[]): number | null {
  for (const [ai, factor] of units) {
    const side = numberIn(found, ai, factor);
    if (side !== null) {
      return side;
    }
  }
  return null;
}

/** The number of an element, times a whole number. */
function numberIn(found: Found, kind: string, factor = 1): number | null {
  const element = found.get(kind);
  // Multiplied as a whole number: 0.35 m are 35 cm, and not 35.00000000000001.
  return element === undefined
    ? null
    : shiftPoint(String(Number(element.value) * factor), Number(element.ai?.[3]));
}
