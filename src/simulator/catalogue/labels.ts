import type { Parcel } from "./parcels.ts";

/** A value and its GS1 application identifier. */
type Element = readonly [ai: string, value: string];

/** The two codes on each label of the catalogue. */
export const labelSymbologies = ["gs1-128", "gs1-datamatrix"] as const;
export type LabelSymbology = (typeof labelSymbologies)[number];

/** How FNC1 behind a value of variable length is sent. */
export const groupSeparator = "\x1d";

/**
 * The elements of a label's codes. The barcode contains the number of the parcel; the Data Matrix also contains order
 * number, gross weight in kilograms, and length, width and height in metres.
 */
function labelElements(parcel: Parcel, symbology: LabelSymbology): readonly Element[] {
  const { barcode, weightKg, lengthCm, widthCm, heightCm } = parcel;
  const sscc: Element = ["00", barcode];
  if (symbology === "gs1-128") {
    return [sscc];
  }
  const digits = (count: number): string => String(Math.round(count)).padStart(6, "0");
  return [
    sscc,
    ["400", orderNumber(parcel)],
    // The last digit of these identifiers says how many decimals the value has.
    ["3302", digits(weightKg * 100)],
    ["3313", digits(lengthCm * 10)],
    ["3323", digits(widthCm * 10)],
    ["3333", digits(heightCm * 10)],
  ];
}

/** The number of the customer's order. */
function orderNumber({ barcode }: Parcel): string {
  return `PO-${barcode.slice(-6, -1)}`;
}

/** The content of a code of the label: its elements, with FNC1 behind each whose length is not predefined. */
export function labelText(parcel: Parcel, symbology: LabelSymbology): string {
  return labelElements(parcel, symbology)
    .map(([ai, value]) => `${ai}${value}${ai === "400" ? groupSeparator : ""}`)
    .join("");
}
