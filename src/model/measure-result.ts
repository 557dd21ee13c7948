import * as v from "valibot";
import { type Phrase, beginning, phrase } from "../errors/interpolation.ts";
import { fieldsOf } from "./containers.ts";
import {
  code,
  decimal,
  decode,
  figure,
  flag,
  requiredCode,
  sizeFigure,
  text,
  unit,
  unitOfFigures,
  weightFigure,
} from "./decode.ts";
import type { MeasureSource } from "./measurement.ts";
import type { MeasureResult } from "./shapes.ts";

/** One measured object (spec 2.3 and 2.4). */
export const measuredObjectSchema = v.pipe(
  v.looseObject({
    trackId: v.pipe(
      v.fallback(v.nullish(v.union([v.number(), v.string()]), null), null),
      v.nullable(v.union([v.number(), v.string()])),
      v.description(
        "The number by which the device tracks the object; a text if a number cannot represent it exactly.",
      ),
    ),
    errorCode: code("0: this object was measured."),
    errorMessage: text("A text for people. Base decisions on errorCode."),
    rotationAngle: decimal("Degrees by which the object is turned on the table."),
    length: decimal("In dimsUnitOfMeasure."),
    width: decimal("In dimsUnitOfMeasure."),
    height: decimal("In dimsUnitOfMeasure."),
  }),
  v.description("One object on the table."),
);

/** The result as a device or the cloud sends it, with the newer device's field names (spec 2.3 and 2.4). */
const wireResult = v.looseObject({
  transactionId: text("For media list, fetch media and archive; null for a local measure."),
  transactionReference: text("What the host gave with the measure."),
  customReference1: text("What the host gave with the measure."),
  customReference2: text("What the host gave with the measure."),
  customReference3: text("What the host gave with the measure."),
  imageIdentifier: text("For fetch image; null if there is none, as through the cloud."),
  elapsedMs: decimal("How long the device took, in milliseconds."),
  dateTimeLocal: text("When it was measured, by the device's clock and time zone (ISO 8601 with offset)."),
  dateTimeUtc: text("When it was measured, in UTC (ISO 8601)."),
  errorCode: requiredCode("0: success. Any other is the device's own number."),
  errorMessage: text("A text for people. Base decisions on errorCode."),
  objectCount: decimal("How many objects the device counts."),
  dimsUnitOfMeasure: unit("Unit of length, width and height, such as cm or in."),
  weightUnitOfMeasure: unit("Unit of weight, such as kg or lb."),
  measurementFidelity: decimal("Step of the dimensions, in their unit: 1, 0.5, 0.2."),
  legalForTrade: flag("Whether the device measured in its Legal for Trade mode."),
  weight: decimal(
    "In weightUnitOfMeasure. The device reports one for all that is on the table, however many objects there are.",
  ),
  objectId: text("Often empty."),
  measuredObjects: v.pipe(
    v.fallback(v.nullish(v.array(measuredObjectSchema), []), []),
    v.description("The objects on the table; empty if nothing was found."),
  ),
});

/**
 * Of a successful measurement, no dimension, no weight and no unit is null because it could not be read, and a parcel has a size. An object that was
 * not measured may have any.
 */
const wireFigures = v.looseObject({
  dimsUnitOfMeasure: unitOfFigures,
  weightUnitOfMeasure: unitOfFigures,
  weight: weightFigure,
  measuredObjects: v.nullish(
    v.array(
      v.lazy((object) => {
        const size = Number(fieldsOf(object)?.["errorCode"] ?? 0) === 0 ? sizeFigure : figure;
        return v.looseObject({ length: size, width: size, height: size });
      }),
    ),
  ),
});

const { weight, dimsUnitOfMeasure, weightUnitOfMeasure, ...otherEntries } = wireResult.entries;

/** A side of the parcel, where there is one parcel. */
const side = (name: "length" | "width" | "height") =>
  v.pipe(
    v.nullable(v.number()),
    v.description(`The object's ${name}, in dimsUnitOfMeasure; null unless exactly one object was measured.`),
  );

/**
 * A result of any surface as this package returns it: first what most flows use, then the rest. Its type and its
 * documentation are generated from it (tools/write-docs).
 */
export const measureResultSchema = v.pipe(
  v.looseObject({
    ok: v.pipe(
      v.boolean(),
      v.description(
        "Whether there is a measurement to use: errorCode is 0, there is an object, objectCount is their number, and each object's errorCode is 0.",
      ),
    ),
    summary: v.pipe(
      v.nullable(v.string()),
      v.description(
        "The dimensions and the weight as a text for people, such as “33.5 × 21 × 12.5 cm, 1.27 kg”; null unless exactly one object was measured.",
      ),
    ),
    length: side("length"),
    width: side("width"),
    height: side("height"),
    weight,
    dimsUnitOfMeasure,
    weightUnitOfMeasure,
    device: v.pipe(
      v.nullable(v.string()),
      v.description(
        "Which device measured: the name of its config node, or its address if it has no name; through the cloud, if no config node names its registration code, the name with which it is registered, or that code if it is not known. Null if the library is used without Node-RED.",
      ),
    ),
    source: v.pipe(
      v.picklist(["newer-device", "earlier-device", "cloud"]),
      v.description("Which API it came from."),
    ),
    deviceSerialNumber: v.pipe(
      v.nullable(v.string()),
      v.description(
        "The serial number of the device, as typed into its config node; null if it is not set there.",
      ),
    ),
    deviceCertificate: v.pipe(
      v.nullable(v.string()),
      v.description(
        "The number of its approval or verification for trade, as typed into its config node; null if it is not set there.",
      ),
    ),
    ...otherEntries,
  }),
  v.description(
    "The result of a measurement, with the same field names for every device: those of the newer generation. Values are as the device sent them. A value that a device does not report is null, never 0 or an empty text. Unknown fields are passed on.",
  ),
);

/** The earlier device's names of fields that have other names in the newer one (spec 2.4). */
const earlierNames: ReadonlyMap<string, string> = new Map([
  ["elapsedMilliseconds", "elapsedMs"],
  ["unitOfMeasure", "dimsUnitOfMeasure"],
  ["dimensionsLegalForTrade", "legalForTrade"],
  ["imageId", "imageIdentifier"],
]);

/** Reads a result of any surface; throws a ShapeError if it is not one. */
export function decodeMeasureResult(value: unknown, source: MeasureSource): MeasureResult {
  const fields = source === "earlier-device" ? rename(value) : value;
  const result = decode(wireResult, fields);
  const { errorCode, objectCount, measuredObjects, weight, dimsUnitOfMeasure, weightUnitOfMeasure } = result;
  const figures = [
    weight,
    ...measuredObjects.flatMap(({ length, width, height }) => [length, width, height]),
  ];
  const isOdd =
    measuredObjects.length === 0 ||
    figures.some((one) => one === null || one <= 0) ||
    dimsUnitOfMeasure === null ||
    weightUnitOfMeasure === null;
  if (errorCode === 0 && isOdd) {
    decode(wireFigures, fields);
  }
  const ok =
    errorCode === 0 &&
    measuredObjects.length > 0 &&
    objectCount === measuredObjects.length &&
    measuredObjects.every((object) => object.errorCode === 0);
  const first = {
    ...figuresOf(result, ok),
    device: null,
    source,
    deviceSerialNumber: null,
    deviceCertificate: null,
  };
  // Spread first, so that these fields come first in the object, and again last, so that a device's fields of the same
  // names cannot replace them.
  return { ...first, ...result, ...first };
}

type Figures = Pick<
  MeasureResult,
  "ok" | "summary" | "length" | "width" | "height" | "weight" | "dimsUnitOfMeasure" | "weightUnitOfMeasure"
>;

/**
 * The first fields of a result. The sides are those of the one object; the weight is what the device reports, which is
 * one for everything on the table.
 */
function figuresOf(
  { weight, dimsUnitOfMeasure, weightUnitOfMeasure, measuredObjects }: v.InferOutput<typeof wireResult>,
  ok: boolean,
): Figures {
  const [only] = ok && measuredObjects.length === 1 ? measuredObjects : [];
  const [length, width, height] = [only?.length ?? null, only?.width ?? null, only?.height ?? null];
  const inUnit = (text: string, unit: string | null): string => (unit === null ? text : `${text} ${unit}`);
  const sides = [length, width, height].map((value) => value ?? "?").join(" × ");
  const parts = [
    inUnit(sides, dimsUnitOfMeasure),
    ...(weight === null ? [] : [inUnit(String(weight), weightUnitOfMeasure)]),
  ];
  return {
    ok,
    summary: only === undefined ? null : parts.join(", "),
    length,
    width,
    height,
    weight,
    dimsUnitOfMeasure,
    weightUnitOfMeasure,
  };
}

function rename(value: unknown): unknown {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(
        Object.entries(value).map(([name, field]) => [earlierNames.get(name) ?? name, field]),
      )
    : value;
}

/** Why a result is not ok, for people: in the device's own words if it sent any. */
export function explainFailure(result: MeasureResult): { problem: Phrase; errorCode: number } {
  const failed = result.measuredObjects.find((object) => object.errorCode !== 0);
  if (result.errorCode !== 0) {
    return { problem: describe(result.errorCode, result.errorMessage), errorCode: result.errorCode };
  }
  if (failed !== undefined) {
    const errorCode = failed.errorCode ?? 0;
    return { problem: describe(failed.errorCode, failed.errorMessage), errorCode };
  }
  return { problem: describeCount(result), errorCode: 0 };
}

function describe(errorCode: number | null, errorMessage: string | null): Phrase {
  // Cut before it is searched: in a text of megabytes the pattern would take hours.
  const words = beginning((errorMessage ?? "").trim()).replace(/[.\s]+$/, "");
  const code = errorCode ?? phrase("noErrorCode");
  return words === "" || words === "-"
    ? phrase("errorCode", { code })
    : phrase("errorWords", { words, code });
}

function describeCount({ objectCount: count, measuredObjects }: MeasureResult): Phrase {
  const described = measuredObjects.length;
  if (described === 0) {
    return phrase("noParcel");
  }
  return count === null
    ? phrase("objectsUncounted", { described })
    : phrase("objectsMiscounted", { count, described });
}

/**
 * Returns those of the wanted names that are not there as often, in any letter case: a name that is given twice is wanted twice. Both lists
 * can be from outside, so their lengths must not multiply.
 */
export function lackingNames(wanted: readonly string[], there: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const name of there.map((one) => one.toLowerCase())) {
    left.set(name, (left.get(name) ?? 0) + 1);
  }
  return wanted.filter((one) => {
    const name = one.toLowerCase();
    const count = left.get(name) ?? 0;
    left.set(name, count - 1);
    return count <= 0;
  });
}
