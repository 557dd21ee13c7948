import * as v from "valibot";
import { described } from "./payloads.ts";

// What the scan node writes.

const text = v.nullable(v.string());

export const scanElement = described(
  "One element of a GS1 code.",
  v.object({
    ai: described(
      "Its application identifier; null if the value does not show it. An article number from EAN, UPC and ITF-14 is 01.",
      text,
    ),
    title: described("As GS1 calls it; null if the identifier is not known.", text),
    value: described("Its text exactly as in the code; an article number has 14 digits.", v.string()),
    checked: described(
      "Whether it has the length, the characters and the check digit that it should; null if the identifier is not known.",
      v.nullable(v.boolean()),
    ),
    problem: v.exactOptional(
      described(
        "What is wrong, if it does not.",
        v.picklist(["length", "characters", "checkDigit", "date", "value"]),
      ),
    ),
    decoded: v.exactOptional(
      described(
        "What the value stands for, if that is not its text: a number with its decimals, or a date (YYYY-MM-DD).",
        v.union([v.number(), v.string()]),
      ),
    ),
  }),
);

export const scanCarrier = described(
  "A carrier's tracking number that the scan can be.",
  v.object({
    carrier: described("The carrier's name.", v.string()),
    service: described("The service or the kind of number.", v.string()),
    number: described("The tracking number without spaces, and without a routing code in front.", v.string()),
    checkDigit: described(
      "Whether the check digit is right; null if the number has none that is known.",
      v.nullable(v.boolean()),
    ),
  }),
);

export const labelDimensions = described(
  "What the label says about the parcel's size (331n to 333n, 341n to 349n).",
  v.object({
    length: described("Length; null if it is missing.", v.nullable(v.number())),
    width: described("Width; null if it is missing.", v.nullable(v.number())),
    height: described("Height; null if it is missing.", v.nullable(v.number())),
    unit: described("Meters become centimeters; feet and yards become inches.", v.picklist(["cm", "in"])),
  }),
);

export const labelWeight = described(
  "What the label says about the parcel's gross weight (330n, 340n).",
  v.object({
    weight: described("The weight.", v.number()),
    unit: described("As in the code.", v.picklist(["kg", "lb"])),
  }),
);

export const scan = described(
  "How a scan was read.",
  v.object({
    raw: described("All that the scanner sent for it, control characters included.", v.string()),
    text: described(
      "The content of the code: without what the scanner puts around it, and with the group separator (character 29) between elements.",
      v.string(),
    ),
    symbology: described("Kind of symbol; null if the scanner does not say it.", text),
    aim: described("The AIM identifier that the scanner sent in front, such as ]C1; null without one.", text),
    elements: described("Elements in their order; empty if it is not a GS1 code.", v.array(scanElement)),
    sscc: described(
      "Serial shipping container code (00); this and the next four only with a right check digit.",
      text,
    ),
    gtin: described("Article number with 14 digits (01), or that of what is inside (02).", text),
    lot: described("Batch or lot (10).", text),
    serial: described("Serial number (21).", text),
    expiry: described("Expiry (17, or 7003 with its time): YYYY-MM-DD.", text),
    labelDims: described("What the label says about the size; null if nothing.", v.nullable(labelDimensions)),
    labelWeight: described("What the label says about the weight; null if nothing.", v.nullable(labelWeight)),
    carriers: described(
      "Every carrier's tracking number that it can be, those with the right check digit first.",
      v.array(scanCarrier),
    ),
    duplicate: described("Always false: duplicates are dropped.", v.boolean()),
  }),
);
