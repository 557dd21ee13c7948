import * as v from "valibot";
import { onOneLine, phrase } from "../errors/interpolation.ts";
import { ShapeError, code, decimal, decode, flag, id, text, unit } from "./decode.ts";
import { sha256Of } from "./sha256.ts";
import type { CloudDevice, MediaItem, Terminal, TransactionRecord } from "./shapes.ts";

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
  device: text("The name of the config node that names its deviceClientId; null if there is none."),
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
  const fields = decode(wireRecord, given);
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

/** Throws a ShapeError that says what was found in place of a record: several in an array, one in an envelope, or none with an id. */
function refuseOtherForms(value: unknown): void {
  if (Array.isArray(value)) {
    throw new ShapeError(phrase("bodyList", { count: value.length }));
  }
  if (typeof value !== "object" || value === null || hasId(value)) {
    return;
  }
  const inside = Object.entries(value).find(
    ([, one]) => hasId(one) || (Array.isArray(one) && one.some(hasId)),
  );
  throw new ShapeError(
    inside === undefined
      ? phrase("fieldMissing", { name: "id" })
      : phrase("bodyInside", { name: onOneLine(inside[0]).slice(0, 60).toWellFormed() }),
  );
}

function hasId(value: unknown): boolean {
  return typeof value === "object" && value !== null && ("id" in value || "transactionId" in value);
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
