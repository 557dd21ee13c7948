import * as v from "valibot";
import { described } from "./payloads.ts";

// What the billable-weight node writes.

const text = v.nullable(v.string());

export const billingThreshold = described(
  "A parcel compared with a limit of a carrier, or with one from the node's settings.",
  v.object({
    name: described("What the limit is for, such as additional handling or oversize.", v.string()),
    over: described(
      "Whether the parcel is over it; exactly at a limit it is not. Null if the weight is not known.",
      v.nullable(v.boolean()),
    ),
    quantity: described(
      "What is limited. `longest`, `second`, `shortest`: a side. `girth`: the longest side plus twice the two others.",
      v.picklist(["volume", "longest", "second", "shortest", "girth", "weight"]),
    ),
    value: described(
      "The value of the parcel, from the sides as the rule rounds them; null if the weight is not known.",
      v.nullable(v.number()),
    ),
    limit: described("The limit.", v.number()),
    unit: described("Unit of limit and value, such as in³, cm or lb.", v.string()),
  }),
);

const compared = {
  label: described("What the label says.", v.number()),
  measured: described("What was measured, in the same unit.", v.number()),
  difference: described("How much more was measured than the label says.", v.number()),
  percent: described(
    "The same as a percentage of what the label says; null if that is 0.",
    v.nullable(v.number()),
  ),
};

export const weightDeviation = described(
  "The measured weight against that of the label.",
  v.object({ ...compared, unit: described("As on the label.", v.picklist(["kg", "g", "lb", "oz"])) }),
);

export const sideDeviation = described(
  "A measured side against that of the label.",
  v.object({ ...compared, unit: described("As on the label.", v.picklist(["cm", "in"])) }),
);

export const labelDeviation = described(
  "How far a measurement is from what the label of the parcel says.",
  v.object({
    weight: described("The weight; null if the label or the scale has none.", v.nullable(weightDeviation)),
    sides: described(
      "The three sides, the longest first; null if the label does not have all of them.",
      v.nullable(v.array(sideDeviation)),
    ),
  }),
);

export const billableWeight = described(
  "The weight that a carrier bills for a parcel. It is computed: the measured values stay where they are, unchanged.",
  v.object({
    weight: described("The weight to bill.", v.number()),
    unit: described(
      "Unit of all weights of this object, except in thresholds and deviation.",
      v.picklist(["kg", "lb"]),
    ),
    basis: described(
      "Which weight that is: that of the size, the actual one (also where both are rounded up to the same), or the least one that is billed.",
      v.picklist(["dimensional", "actual", "minimum"]),
    ),
    explanation: described(
      "How it was found, such as “12 × 9 × 7 in = 756 in³, ÷ 139 = 5.44, rounded up to 6 lb”. In English with a decimal point, whatever the language of the server, so that records can be compared.",
      v.string(),
    ),
    dimensionalWeight: described(
      "The weight of the size, rounded up as the rule says; null if the volume is not above the rule's threshold.",
      v.nullable(v.number()),
    ),
    actualWeight: described(
      "The weight as it was weighed, not rounded up; null if none is used.",
      v.nullable(v.number()),
    ),
    weightFrom: described(
      "Where the actual weight comes from: the measurement, the label, or another scale. Null if none is used.",
      v.nullable(v.picklist(["measured", "label", "given"])),
    ),
    sides: described("Length, width and height as the rule rounds them, in dimsUnit.", v.array(v.number())),
    dimsUnit: described("Unit of the sides.", v.picklist(["cm", "in"])),
    volume: described("Product of the sides, in cubes of dimsUnit.", v.number()),
    divisor: described("What the volume is divided by.", v.number()),
    ruleId: described("Which rule of the table; `own` for a custom rule.", v.string()),
    ruleDate: described(
      "The day since which the rule applies (YYYY-MM-DD). Null if that day is not known, so that the rule may not have applied on the day of the measurement, and for a custom rule.",
      text,
    ),
    source: described("Where the rule was found; null for a custom rule.", text),
    ruleVerified: described(
      "False if a part of the rule was found in one secondary source only; null for a custom rule.",
      v.nullable(v.boolean()),
    ),
    over: described(
      "Whether the parcel is over any of the thresholds. Null if it is over none of those that could be compared, and one could not be: without a weight, or where the table has the carrier's limits of later days only.",
      v.nullable(v.boolean()),
    ),
    limitsDate: described(
      "The day since which the carrier's limits apply (YYYY-MM-DD); null if the table has none for the day of the measurement.",
      text,
    ),
    thresholds: described(
      "The limits of the carrier on that day, and those of the node's settings.",
      v.array(billingThreshold),
    ),
    deviation: described(
      "The measurement against the label; null if `msg.scan` contains neither the size nor the weight.",
      v.nullable(labelDeviation),
    ),
    legalForTrade: described(
      "Whether what is billed was measured legal for trade, as the device says. `unknown` if it is not known, and false for dimensions that were typed in.",
      v.union([v.boolean(), v.literal("unknown")]),
    ),
    computed: described("Always true: none of this is a measured value.", v.literal(true)),
  }),
);
