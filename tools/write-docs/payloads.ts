import * as v from "valibot";
import type { FleetDevice } from "../../src/cloud/fleet.ts";
import type { ErrorDetails } from "../../src/errors/dimensioner-error.ts";
import { errorCodes } from "../../src/errors/codes.ts";
import type { SavedFile } from "../../src/media/save-to-file.ts";
import type { MediaItem, Terminal } from "../../src/model/cloud-records.ts";
import type { MeasuredObject, MeasureResult } from "../../src/model/measure-result.ts";
import type { TransactionRecord } from "../../src/model/transaction-record.ts";
import type { ArchivedPackage } from "../../src/model/archived-package.ts";
import { describes } from "./same-type.ts";

const text = v.nullable(v.string());
const number = v.nullable(v.number());
const flag = v.nullable(v.boolean());

/** A field with what it means. */
function field<const TSchema extends v.GenericSchema>(meaning: string, schema: TSchema) {
  return v.pipe(schema, v.description(meaning));
}

const bytes = v.pipe(v.number(), v.integer(), v.minValue(0));
const sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));

export const measuredObject = describes<MeasuredObject>()(
  v.looseObject({
    trackId: field(
      "The number the device follows the object by; text where no number holds it exactly.",
      v.nullable(v.union([v.number(), v.string()])),
    ),
    errorCode: field("0: this object was measured.", number),
    errorMessage: field("For people; never decide by it.", text),
    rotationAngle: field("Degrees by which the object is turned on the table.", number),
    length: field("In dimsUnitOfMeasure.", number),
    width: field("In dimsUnitOfMeasure.", number),
    height: field("In dimsUnitOfMeasure.", number),
  }),
);

export const measureResult = describes<MeasureResult>()(
  v.looseObject({
    ok: field(
      "Whether there is a measurement to use: errorCode is 0, there is an object, objectCount is their number, and each object's errorCode is 0.",
      v.boolean(),
    ),
    source: field("Which API it came from.", v.picklist(["newer-device", "earlier-device", "cloud"])),
    transactionId: field("For media list, fetch media and archive; null for a local measure.", text),
    transactionReference: field("What the host gave with the measure.", text),
    customReference1: field("What the host gave with the measure.", text),
    customReference2: field("What the host gave with the measure.", text),
    customReference3: field("What the host gave with the measure.", text),
    imageIdentifier: field("For fetch image; null where there is none, as through the cloud.", text),
    elapsedMs: field("How long the device took, in milliseconds.", number),
    dateTimeLocal: field("When, by the device's clock and time zone (ISO 8601 with offset).", text),
    dateTimeUtc: field("When, in UTC (ISO 8601).", text),
    errorCode: field("0: success. Any other is the device's own number.", v.pipe(v.number(), v.integer())),
    errorMessage: field("For people; never decide by it.", text),
    objectCount: field("How many objects the device counts.", number),
    dimsUnitOfMeasure: field("Unit of length, width and height, such as cm or in.", text),
    weightUnitOfMeasure: field("Unit of weight, such as kg or lb.", text),
    measurementFidelity: field("Step of the dimensions, in their unit: 1, 0.5, 0.2.", number),
    legalForTrade: field("Whether the device measured in its Legal for Trade mode.", flag),
    weight: field("In weightUnitOfMeasure.", number),
    objectId: field("Often empty.", text),
    measuredObjects: field("What lay on the table; none where nothing was found.", v.array(measuredObject)),
  }),
);

export const mediaItem = describes<MediaItem>()(
  v.looseObject({
    contentId: field("For fetch media.", v.string()),
    contentType: field("MIME type; trust this one, not the description.", text),
    description: field("What it shows, such as AnnotatedColorImageJpeg.", text),
  }),
);

export const terminal = describes<Terminal>()(
  v.looseObject({
    id: field("Opaque text.", v.string()),
    name: field("As in the portal.", text),
    reference: field("As in the portal.", text),
    addressLine1: field("As in the portal.", text),
    addressLine2: field("As in the portal.", text),
    city: field("As in the portal.", text),
    provinceState: field("As in the portal.", text),
    country: field("As in the portal.", text),
    zipPostalCode: field("As in the portal.", text),
  }),
);

export const deviceListItem = describes<FleetDevice>()(
  v.object({
    id: field("Opaque text.", v.string()),
    name: field("As in the portal.", text),
    registrationCode: field("What remote trigger takes as deviceReference.", text),
    appVersion: field("Version of the device's software.", text),
    terminal: field("The grouping it belongs to; null where there is none.", v.nullable(terminal)),
    lastHeartbeatUtc: field("When the cloud last heard of it, in UTC.", text),
    silentFor: field("Seconds since then; null where it was never heard of.", number),
  }),
);

export const transactionRecord = describes<TransactionRecord>()(
  v.looseObject({
    ok: field("Whether errorCode is 0.", v.boolean()),
    source: field("Always webhook.", v.literal("webhook")),
    transactionId: field("For media list, fetch media and archive; opaque text.", v.string()),
    legacyId: field("The integer beside a GUID (version 2 of the record), as text.", text),
    deviceClientId: field("Id of the device in the cloud, as device list has it.", text),
    errorCode: field("0: success. Any other is the device's own number.", v.pipe(v.number(), v.integer())),
    errorMessage: field("For people; never decide by it.", text),
    dateTimeUtc: field("When it was measured, in UTC.", text),
    elapsedMs: field("How long the device took, in milliseconds.", number),
    isManualDimension: field("Whether somebody typed the dimensions in.", flag),
    dimsUnitOfMeasure: field("Unit of length, width and height.", text),
    weightUnitOfMeasure: field("Unit of weight.", text),
    measurementFidelity: field("Step of the dimensions, in their unit.", number),
    rotationAngle: field("Degrees by which the parcel was turned.", number),
    length: field("In dimsUnitOfMeasure.", number),
    width: field("In dimsUnitOfMeasure.", number),
    height: field("In dimsUnitOfMeasure.", number),
    weight: field("In weightUnitOfMeasure.", number),
    cameraSerialId: field("Serial number of the camera.", text),
    barcodeReference: field("The barcode that was scanned at the device.", text),
    customReference1: field("What the host gave with the measure.", text),
    customReference2: field("What the host gave with the measure.", text),
    customReference3: field("What the host gave with the measure.", text),
    transactionReference: field("What the host gave with the measure.", text),
  }),
);

export const savedFile = describes<SavedFile>()(
  v.object({
    path: field("Where it is: whole, checked and synced.", v.string()),
    bytes: field("Its length.", bytes),
    sha256: field("Hash of its content, in lower-case hexadecimal.", sha256),
    contentType: field("As the other side says; by its content where it says nothing.", v.string()),
  }),
);

const archivedFile = v.object({
  path: field("Absolute path in the package.", v.string()),
  contentId: field("As in the cloud; null where a message brought it without one.", text),
  description: field("As in the cloud or on the message.", text),
  contentType: field("By its content, else as announced.", text),
  bytes: field("Its length.", bytes),
  sha256: field("Hash of its content, in lower-case hexadecimal.", sha256),
});

export const archivedPackage = describes<ArchivedPackage>()(
  v.object({
    folder: field("Absolute path of the package.", v.string()),
    manifest: field("Absolute path of its manifest.json.", v.string()),
    transactionId: field("As given.", v.string()),
    transactionReference: field("As given.", text),
    files: field("The images and videos.", v.array(archivedFile)),
    bytes: field("Sum of their lengths.", bytes),
    complete: field("Whether all that was expected is there.", v.boolean()),
    alreadyArchived: field("Whether the package was there before this message.", v.boolean()),
  }),
);

export const videoCommand = v.object({
  action: field("What was done.", v.picklist(["start", "stop", "cancel"])),
  at: field("When the answer was there, by this computer's clock (ISO 8601, UTC).", v.string()),
  transactionReference: field("As given with the message.", text),
});

export const messageParts = v.object({
  id: field("The same in all messages of one list.", v.string()),
  index: field("Counts from 0.", bytes),
  count: field("How many messages the list has become.", bytes),
  type: field("Tells Join to make an array of them.", v.literal("array")),
});

export const errorDetails = describes<ErrorDetails>()(
  v.object({
    surface: field(
      "Where it went wrong.",
      v.picklist(["newer-device", "earlier-device", "cloud", "disk", "config"]),
    ),
    operation: field("What was asked for, such as “measure”, “video start” or “media list”.", v.string()),
    outcome: field(
      "What a command did; null for what only reads or saves.",
      v.nullable(v.picklist(["not-sent", "refused", "failed", "unknown"])),
    ),
    retryable: field("Whether sending the same message again is safe and may help.", v.boolean()),
    statusCode: v.exactOptional(field("The HTTP status, where there was one.", v.number())),
    errorCode: v.exactOptional(field("The device's own error code, of a failed measurement.", v.number())),
    hint: field("One more thing to know or to try.", v.string()),
    url: v.exactOptional(field("Origin and path of the request; never a query, never a token.", v.string())),
  }),
);

/** What this package puts on msg.error; Node-RED adds `source`, the node that failed. */
export const errorObject = v.looseObject({
  code: field("Decide by this one.", v.picklist(errorCodes)),
  message: field("What happened and what to do, in the language of the Node-RED server.", v.string()),
  cause: field("What a flow needs to know of it.", errorDetails),
});
