import type { LabelDimensions, LabelWeight, Scan, ScanElement } from "../../model/shapes.ts";
import { shiftPoint } from "./element.ts";

type Summary = Pick<Scan, "sscc" | "gtin" | "lot" | "serial" | "expiry" | "labelDims" | "labelWeight">;

/** What most flows want to know of a code, from elements that are as they should be. */
export function summarize(elements: readonly ScanElement[]): Summary {
  const right = elements.filter(({ checked }) => checked);
  const valueOf = (ai: string) => right.find((element) => element.ai === ai)?.value ?? null;
  const onLabel = right.filter(({ ai }) => ai?.length === 4 && /^3[34]/.test(ai));
  return {
    sscc: valueOf("00"),
    gtin: valueOf("01") ?? valueOf("02"),
    lot: valueOf("10"),
    serial: valueOf("21"),
    expiry: dateIn(right, "17") ?? dateIn(right, "7003"),
    labelDims: onLabel.length === 0 ? null : dimensionsIn(onLabel),
    labelWeight: weightIn(onLabel),
  };
}

function dateIn(elements: readonly ScanElement[], ai: string): string | null {
  const decoded = elements.find((element) => element.ai === ai)?.decoded;
  return typeof decoded === "string" ? decoded : null;
}

function weightIn(elements: readonly ScanElement[]): LabelWeight | null {
  const kilograms = numberIn(elements, "330");
  const pounds = numberIn(elements, "340");
  if (kilograms !== null) {
    return { weight: kilograms, unit: "kg" };
  }
  return pounds === null ? null : { weight: pounds, unit: "lb" };
}

/** Application identifiers of logistic lengths, widths and heights, and how much of our unit theirs is. */
const metric = [["331", "332", "333", 100]] as const;
const imperial = [
  ["341", "344", "347", 1],
  ["342", "345", "348", 12],
  ["343", "346", "349", 36],
] as const;

function dimensionsIn(elements: readonly ScanElement[]): LabelDimensions | null {
  return sidesIn(elements, "cm", metric) ?? sidesIn(elements, "in", imperial);
}

function sidesIn(
  elements: readonly ScanElement[],
  unit: "cm" | "in",
  units: readonly (readonly [length: string, width: string, height: string, factor: number])[],
): LabelDimensions | null {
  const side = (index: 0 | 1 | 2): number | null =>
    units.map((one) => numberIn(elements, one[index], one[3])).find((found) => found !== null) ?? null;
  const [length, width, height] = [side(0), side(1), side(2)];
  return length === null && width === null && height === null ? null : { length, width, height, unit };
}

/** The number of the first element with this application identifier and any number of decimals, times a whole number. */
function numberIn(elements: readonly ScanElement[], first: string, factor = 1): number | null {
  const found = elements.find(({ ai }) => ai?.startsWith(first));
  // Multiplied as a whole number: 0.35 m are 35 cm, and not 35.00000000000001.
  return found === undefined ? null : shiftPoint(String(Number(found.value) * factor), Number(found.ai?.[3]));
}
