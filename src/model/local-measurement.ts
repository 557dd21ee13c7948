import * as v from "valibot";

const text = v.nullable(v.string());
const figure = v.nullable(v.number());

const references = v.object({
  transactionReference: text,
  customReference1: text,
  customReference2: text,
  customReference3: text,
});

/** The references of a measurement, as they were sent or as a record contains them. */
export type References = v.InferOutput<typeof references>;

export const customReferenceNames = ["customReference1", "customReference2", "customReference3"] as const;

export const referenceNames = [
  "transactionReference",
  ...customReferenceNames,
] as const satisfies readonly (keyof References)[];

/** At least 16 hexadecimal digits: nobody else has them by chance, and nothing else that flows call a tag looks like it. */
const tagForm = /^(?=(?:-*[\da-f]){16})[\da-f-]{16,100}$/i;

/** Whether a text can be the tag of one measurement: a UUID, or an ID as Node-RED makes it. */
export function isTag(text: string): boolean {
  return tagForm.test(text);
}

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

/** The measured values; length, width and height are null unless there is exactly one object. */
export type Figures = v.InferOutput<typeof figures>;

/** Undefined for anything else: a message may come from anywhere. */
const sentSteady = v.fallback(v.optional(v.object({ clock: v.string(), ms: v.number() })), undefined);

/** A measurement by a device on the local network: the facts by which the cloud's record of it is found. */
export const localMeasurement = v.object({
  /** When it was sent, by this computer's clock (ISO 8601, UTC). */
  sentAt: v.pipe(v.string(), v.isoTimestamp()),
  /** The same by a clock that nobody sets; not of a measurement of an earlier version. */
  sentSteady,
  /** As they were sent. */
  references,
  /** The unique id among the references. */
  tag: text,
  /** Whether the device's own errorCode is 0, as its record says it; an object of it may have failed nevertheless. */
  ok: v.boolean(),
  figures,
  /** The time of the measurement by the device's clock. */
  deviceUtcTime: text,
});

export type LocalMeasurement = v.InferOutput<typeof localMeasurement>;

const measuredBy = v.object({
  surface: v.picklist(["newer-device", "earlier-device"]),
  sentAt: v.pipe(v.string(), v.isoTimestamp()),
  sentSteady,
  references,
  tag: text,
});

const number = v.fallback(v.optional(figure, null), null);
const words = v.fallback(v.optional(text, null), null);

const result = v.object({
  ok: v.boolean(),
  errorCode: number,
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
 * Reads the result of a measure on a message (`msg.measuredBy` and the result). Null if no device on the local network
 * has measured, or if the message does not contain what was sent and when: then its record cannot be found.
 */
export function readLocalMeasurement(by: unknown, measured: unknown): LocalMeasurement | null {
  const given = v.safeParse(measuredBy, by);
  const read = v.safeParse(result, measured);
  if (!given.success || !read.success) {
    return null;
  }
  const { sentAt, sentSteady, references: sent, tag } = given.output;
  const { ok, errorCode, length, width, height, weight, dateTimeUtc, ...units } = read.output;
  return {
    sentAt,
    ...(sentSteady === undefined ? {} : { sentSteady }),
    references: sent,
    tag,
    ok: errorCode === null ? ok : errorCode === 0,
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
