import * as v from "valibot";
import { onOneLine, phrase } from "../errors/interpolation.ts";
import { fieldsOf, isContainer } from "./containers.ts";
import { ShapeError, code, decimal, decode, flag, id, text, unit } from "./decode.ts";
import { parseFields, recordLimits } from "./parse-json.ts";
import { sha256Of } from "./sha256.ts";
import type { CloudDevice, Correction, MediaItem, Terminal, TransactionRecord } from "./shapes.ts";

/**
 * A record as the webhook posts it, with the field names of a measurement's result; numbers may be text in one version.
 */
const wireRecord = v.looseObject({
  transactionId: id("For media list, fetch media and archive; opaque text."),
  legacyId: text("The integer beside a GUID (version 2 of the record), as text."),
  deviceClientId: text("ID of the device in the cloud, as device list has it."),
  errorCode: code("0: success. Any other is the device's own number; null if the record has none."),
  errorMessage: text("A text for people. Base decisions on errorCode."),
  dateTimeUtc: text("When it was measured, in UTC (ISO 8601)."),
  elapsedMs: decimal("How long the device took, in milliseconds."),
  isManualDimension: flag("Whether somebody typed the dimensions in."),
  dimsUnitOfMeasure: unit("Unit of length, width and height, such as cm or in."),
  weightUnitOfMeasure: unit("Unit of weight, such as kg or lb."),
  measurementFidelity: decimal("Step of the dimensions, in their unit."),
  rotationAngle: decimal("Degrees by which the parcel was turned."),
  length: decimal("In dimsUnitOfMeasure."),
  width: decimal("In dimsUnitOfMeasure."),
  height: decimal("In dimsUnitOfMeasure."),
  weight: decimal("In weightUnitOfMeasure."),
  cameraSerialId: text("Serial number of the camera."),
  barcodeReference: text("The barcode that was scanned at the device; also known as primary reference."),
  customReference1: text("What the host gave with the measure."),
  customReference2: text("What the host gave with the measure."),
  customReference3: text("What the host gave with the measure."),
  transactionReference: text("What the host gave with the measure."),
  device: text(
    "The name of the config node that names its deviceClientId, or else the name with which it is registered with a deployed cloud; null if neither is known.",
  ),
  deviceSerialNumber: text(
    "The serial number of the device, as typed into the config node that names its deviceClientId; null if there is none.",
  ),
  deviceCertificate: text("The number of its approval or verification for trade, from the same config node."),
});

/** A record as this package returns it. Its type and its documentation are generated from it (tools/write-docs). */
export const transactionRecordSchema = v.pipe(
  v.looseObject({
    ok: v.pipe(v.boolean(), v.description("Whether errorCode is 0.")),
    source: v.pipe(v.literal("webhook"), v.description("Always webhook.")),
    ...wireRecord.entries,
    unreadable: v.exactOptional(
      v.pipe(
        v.looseObject({}),
        v.description("What was posted in the fields that are null because it cannot be used."),
      ),
    ),
  }),
  v.description(
    "One measurement as the cloud's webhook reports it. Both versions of the cloud's record are converted to this shape: v1 with an integer ID, v2 with a GUID and the integer as legacyId. A value that a version does not have is null. Unknown fields are passed on.",
  ),
);

/** The record's names of fields that have other names in a measurement's result. */
const recordNames: ReadonlyMap<string, string> = new Map([
  ["id", "transactionId"],
  ["errorDescription", "errorMessage"],
  ["transactionDateTime", "dateTimeUtc"],
  ["elapsedTimeMilliseconds", "elapsedMs"],
  ["measurementUnitOfMeasureCd", "dimsUnitOfMeasure"],
  ["weightUnitOfMeasureCd", "weightUnitOfMeasure"],
]);

/** Reads a transaction record of either version; throws a ShapeError if it is not one: if it has no id. */
export function decodeTransactionRecord(value: unknown): TransactionRecord {
  refuseOtherForms(value);
  const given = decode(v.looseObject({}), rename(value));
  const fields = withoutImpossible(decode(wireRecord, given));
  const unreadable = Object.entries(given).filter(
    ([name, field]) => fields[name] === null && field !== null && field !== "",
  );
  return {
    ...fields,
    ...(unreadable.length === 0 ? {} : { unreadable: Object.fromEntries(unreadable) }),
    ok: fields.errorCode === 0,
    source: "webhook",
  };
}

/** A parcel that was measured has a size, and a weight that is not below 0. */
function withoutImpossible(record: v.InferOutput<typeof wireRecord>): v.InferOutput<typeof wireRecord> {
  const { errorCode, length, width, height, weight } = record;
  const size = (side: number | null): number | null => (side !== null && side > 0 ? side : null);
  return errorCode === 0
    ? {
        ...record,
        length: size(length),
        width: size(width),
        height: size(height),
        weight: weight !== null && weight < 0 ? null : weight,
      }
    : record;
}

/** Throws a ShapeError that says what was found in place of a record: several in an array, one in an envelope, or none with an id. */
function refuseOtherForms(value: unknown): void {
  if (Array.isArray(value)) {
    throw new ShapeError(phrase("bodyList", { count: value.length }));
  }
  const fields = fieldsOf(value);
  if (fields === null || (hasId(fields) && hasResult(fields))) {
    return;
  }
  // Some envelopes have an ID of their own, but none has a result.
  const isRecord = (one: unknown): boolean => hasId(one) && (hasResult(one) || !hasId(fields));
  const inside = wayToRecord(fields, isRecord, mostEnvelopes);
  if (inside !== undefined) {
    const name = onOneLine(inside.join(".")).slice(0, 60).toWellFormed();
    throw new ShapeError(phrase("bodyInside", { name }));
  }
  if (!hasId(fields)) {
    const other = Object.keys(fields).find((name) => otherId.test(name));
    throw new ShapeError(
      other === undefined ? phrase("fieldMissing", { name: "id" }) : phrase("idNamed", { name: other }),
    );
  }
}

/** How others write the names of an ID. */
const otherId = /^(?:transaction[_-]?)?id$/i;

/** How many envelopes may be around each other. */
const mostEnvelopes = 5;

/** The names of the fields in which a record is; undefined if there is none. */
function wayToRecord(
  value: object,
  isRecord: (value: unknown) => boolean,
  levels: number,
): string[] | undefined {
  for (const [name, sent] of levels === 0 ? [] : Object.entries(value)) {
    // Message queues send what they pass on as a text.
    const one: unknown = typeof sent === "string" ? (parseFields(sent, recordLimits) ?? sent) : sent;
    const further = isContainer(one) ? wayToRecord(one, isRecord, levels - 1) : undefined;
    const way = isRecord(one) ? [] : further;
    if (way !== undefined) {
      return Array.isArray(value) ? way : [name, ...way];
    }
  }
  return undefined;
}

const hasId = (value: unknown): boolean => hasField(value, "id") || hasField(value, "transactionId");
const hasResult = (value: unknown): boolean => hasField(value, "errorCode");

function hasField(value: unknown, name: string): boolean {
  return Object.hasOwn(fieldsOf(value) ?? {}, name);
}

/** What tells one transaction from others, and what is known of its device here. */
const notContent: ReadonlySet<string> = new Set([
  "transactionId",
  "legacyId",
  "device",
  "deviceSerialNumber",
  "deviceCertificate",
]);

/**
 * The SHA-256 of what a record says about its transaction: the same for both versions of the record and whatever the order of its fields.
 * Another one under the same id is another message, such as a correction.
 */
export function contentOf(record: TransactionRecord): string {
  const content = Object.entries(record).filter(([name]) => !notContent.has(name));
  return sha256Of(JSON.stringify(content.toSorted(byName), (_, value: unknown) => inOrder(value)));
}

/** What a record says, as short as it can be compared field by field with another one. */
export interface Outline {
  readonly names: readonly string[];
  /** Of each field, in the order of the names. */
  readonly digests: string;
}

/** More would hardly ever differ where these are the same. */
const digestLength = 6;

/** `before`: an outline that may have the same names, of which only one list is kept in memory then. */
export function outlineOf(record: TransactionRecord, before?: Outline): Outline {
  const fields = Object.entries(record)
    .filter(([name]) => !notContent.has(name))
    .toSorted(byName);
  const names = fields.map(([name]) => name);
  const isKnown = before?.names.length === names.length && before.names.every((one, at) => one === names[at]);
  const digests = fields.map(([, value]) =>
    sha256Of(JSON.stringify(value, (_, one: unknown) => inOrder(one)) ?? "").slice(0, digestLength),
  );
  return { names: isKnown ? before.names : names, digests: digests.join("") };
}

/** What is known of a record that was received before. */
export interface Remembered {
  readonly transactionId: string;
  readonly receivedAt: string;
  readonly outline: Outline;
}

/** What a record corrects, by its outline and what is known of the one before. */
export function correctionOf({ transactionId, receivedAt, outline }: Remembered, now: Outline): Correction {
  const digestsOf = ({ names, digests }: Outline): Map<string, string> =>
    new Map(names.map((name, at) => [name, digests.slice(at * digestLength, (at + 1) * digestLength)]));
  const [before, after] = [digestsOf(outline), digestsOf(now)];
  const fields = [...new Set([...before.keys(), ...after.keys()])]
    .filter((name) => before.get(name) !== after.get(name))
    .toSorted();
  return { transactionId, receivedAt, fields };
}

function inOrder(value: unknown): unknown {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(byName))
    : value;
}

function byName([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : Number(one > other);
}

/** A field that already has the name of a renamed field is overwritten by it. */
function rename(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return value;
  }
  const entries = Object.entries(value);
  const renamed = entries.flatMap(([name, field]): [string, unknown][] => {
    const other = recordNames.get(name);
    return other === undefined ? [] : [[other, field]];
  });
  return Object.fromEntries([...entries.filter(([name]) => !recordNames.has(name)), ...renamed]);
}

export const mediaItemSchema = v.pipe(
  v.looseObject({
    contentId: id("For fetch media."),
    contentType: text("MIME type; trust this one, not the description."),
    description: text("What it shows, such as AnnotatedColorImageJpeg."),
  }),
  v.description("One image or video of a transaction in the cloud."),
);

export const cloudDeviceSchema = v.pipe(
  v.looseObject({
    id: id("Opaque text."),
    name: text("As in the portal."),
    appVersion: text("Version of the device's software."),
    terminalId: text("ID of the terminal that it belongs to; null if there is none."),
    lastHeartbeatUtc: text("When the cloud last heard of it, in UTC."),
    registrationCode: text("What a remote trigger takes as deviceReference."),
  }),
  v.description("A device that is registered with the cloud."),
);

export const terminalSchema = v.pipe(
  v.looseObject({
    id: id("Opaque text."),
    name: text("As in the portal."),
    reference: text("As in the portal."),
    addressLine1: text("As in the portal."),
    addressLine2: text("As in the portal."),
    city: text("As in the portal."),
    provinceState: text("As in the portal."),
    country: text("As in the portal."),
    zipPostalCode: text("As in the portal."),
  }),
  v.description("A grouping of devices, such as a site."),
);

export const decodeMediaList = (value: unknown): MediaItem[] => decode(v.array(mediaItemSchema), value);
export const decodeDevices = (value: unknown): CloudDevice[] => decode(v.array(cloudDeviceSchema), value);
export const decodeDevice = (value: unknown): CloudDevice => decode(cloudDeviceSchema, value);
export const decodeTerminals = (value: unknown): Terminal[] => decode(v.array(terminalSchema), value);
export const decodeTerminal = (value: unknown): Terminal => decode(terminalSchema, value);
