import * as v from "valibot";

const text = v.nullable(v.string());
const figure = v.nullable(v.number());

const references = v.object({
  transactionReference: text,
  customReference1: text,
  customReference2: text,
  customReference3: text,
});

/** The references of a measurement, as they were sent or as a record has them. */
export type References = v.InferOutput<typeof references>;

export const referenceNames = [
  "transactionReference",
  "customReference1",
  "customReference2",
  "customReference3",
] as const satisfies readonly (keyof References)[];

const figures = v.object({
  length: figure,
  width: figure,
  height: figure,
  dimsUnit: text,
  /** Step of the dimensions, in their unit. */
  step: figure,
  weight: figure,
  weightUnit: text,
});

/** What was measured; length, width and height are null where there is not exactly one object. */
export type Figures = v.InferOutput<typeof figures>;

/** What is known of a measurement that a device on the local network has made: by this the cloud's record of it is found. */
export const localMeasurement = v.object({
  /** By this computer's clock (ISO 8601, UTC). */
  sentAt: v.pipe(v.string(), v.isoTimestamp()),
  /** As they were sent. */
  references,
  /** The unique id among them. */
  tag: text,
  ok: v.boolean(),
  figures,
  /** By the device's clock. */
  deviceUtcTime: text,
});

export type LocalMeasurement = v.InferOutput<typeof localMeasurement>;

const measuredBy = v.object({
  surface: v.picklist(["newer-device", "earlier-device"]),
  sentAt: v.pipe(v.string(), v.isoTimestamp()),
  references,
  tag: text,
});

const number = v.fallback(v.optional(figure, null), null);
const words = v.fallback(v.optional(text, null), null);

const result = v.object({
  ok: v.boolean(),
  length: number,
  width: number,
  height: number,
  dimsUnitOfMeasure: words,
  measurementFidelity: number,
  weight: number,
  weightUnitOfMeasure: words,
  dateTimeUtc: words,
});

/**
 * Reads what a measure has left on its message (`msg.measuredBy` and the result). Null where no device on the local network has
 * measured, or the message does not say what was sent and when: then nothing can be found.
 */
export function readLocalMeasurement(by: unknown, measured: unknown): LocalMeasurement | null {
  const given = v.safeParse(measuredBy, by);
  const read = v.safeParse(result, measured);
  if (!given.success || !read.success) {
    return null;
  }
  const { sentAt, references: sent, tag } = given.output;
  const { ok, length, width, height, weight, dateTimeUtc, ...units } = read.output;
  return {
    sentAt,
    references: sent,
    tag,
    ok,
    figures: {
      length,
      width,
      height,
      dimsUnit: units.dimsUnitOfMeasure,
      step: units.measurementFidelity,
      weight,
      weightUnit: units.weightUnitOfMeasure,
    },
    deviceUtcTime: dateTimeUtc,
  };
}
