import * as v from "valibot";
import { decode } from "./decode.ts";

/** A schema with what it means, for docs/weight-table.schema.json and the types, which are made from here (tools/write-docs). */
function described<const TSchema extends v.GenericSchema>(meaning: string, schema: TSchema) {
  return v.pipe(schema, v.description(meaning));
}

const mostItems = 100;
/** A number, or the same as text, which keeps every digit. */
const decimal = (pattern: RegExp) =>
  v.union([v.pipe(v.number(), v.minValue(0)), v.pipe(v.string(), v.regex(pattern))]);
const zeroOrMore = decimal(/^\d{1,20}(?:\.\d{1,18})?$/);
const aboveZero = v.union([
  v.pipe(v.number(), v.gtValue(0)),
  v.pipe(v.string(), v.regex(/^(?=.*[1-9])\d{1,20}(?:\.\d{1,18})?$/)),
]);
const day = v.pipe(v.string(), v.isoDate());
const shortText = v.pipe(v.string(), v.minLength(1), v.maxLength(200));

const dated = {
  since: v.exactOptional(
    described(
      "The first day on which it applies (YYYY-MM-DD); null or left out if that is not known.",
      v.nullable(day),
    ),
  ),
  validUntil: v.exactOptional(
    described(
      "The last day on which it applies; null or left out if no newer one is known.",
      v.nullable(day),
    ),
  ),
  source: described("Where it was found, such as the number of a contract.", shortText),
};

export const weightTableRule = described(
  "How the billed weight is calculated from one day on.",
  v.strictObject({
    id: described("The rule's name, which is `ruleId` in the result.", shortText),
    ...dated,
    unit: described(
      "Cubic centimeters for a kilogram, or cubic inches for a pound.",
      v.picklist(["cm-kg", "in-lb"]),
    ),
    divisor: described("What the volume is divided by.", aboveZero),
    sideRounding: v.exactOptional(
      described(
        "How each side is rounded to a whole inch or centimeter; `none` if left out.",
        v.picklist(["none", "up", "nearest"]),
      ),
    ),
    productRounding: v.exactOptional(
      described(
        "The weight is rounded up to a multiple of it; to the thousandth if it is 0 or left out.",
        zeroOrMore,
      ),
    ),
    threshold: v.exactOptional(described("Only a volume above it counts; 0 if left out.", zeroOrMore)),
    minimum: v.exactOptional(described("The least weight that is billed; 0 if left out.", zeroOrMore)),
  }),
);

export const weightTableLimits = described(
  "A carrier's limits from one day on.",
  v.strictObject({
    ...dated,
    limits: described(
      "Each as in the node: `oversize: longest > 96 in, at least 90 lb`.",
      v.pipe(v.array(shortText), v.maxLength(mostItems)),
    ),
  }),
);

export const weightTableCarrier = described(
  "The rules and limits of one carrier.",
  v.strictObject({
    name: described("The name by which the node, or a message, selects it.", shortText),
    rules: described(
      "In any order; the one of the day of the measurement is used.",
      v.pipe(v.array(weightTableRule), v.minLength(1), v.maxLength(mostItems)),
    ),
    surcharges: v.exactOptional(
      described(
        "Limits for surcharges; none if left out.",
        v.pipe(v.array(weightTableLimits), v.maxLength(mostItems)),
      ),
    ),
  }),
);

export const weightTable = described(
  "A table of carriers' rules in place of the one of this package.",
  v.strictObject({
    $schema: v.exactOptional(described("Where editors find the schema.", v.string())),
    checked: described(
      "The day on which all of it was last compared with its sources (YYYY-MM-DD); a year later the node warns.",
      day,
    ),
    carriers: described(
      "The carriers.",
      v.pipe(v.array(weightTableCarrier), v.minLength(1), v.maxLength(mostItems)),
    ),
  }),
);

/** Reads a table. Throws a ShapeError that names the field which is missing or wrong. */
export function decodeWeightTable(value: unknown) {
  return decode(weightTable, value);
}
