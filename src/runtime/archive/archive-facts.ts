import { readLocalMeasurement, type LocalMeasurement } from "../../jobs/find/local-measurement.ts";
import type { GivenMedium } from "../../jobs/accept/given-media.ts";
import {
  billedSchema,
  recordingSchema,
  scannedSchema,
  type GivenReferences,
  type Intent,
  type MeasuredBy,
  type RecordedBy,
} from "../../vault/packages/intent.ts";
import * as v from "valibot";
import { verbatim, phrase } from "../../errors/interpolation.ts";
import type { Instrument } from "../../model/instrument.ts";
import { fieldsOf, type Fields } from "../../model/containers.ts";
import { decodeMeasureResult } from "../../model/measure-result.ts";
import { parseFields, recordLimits } from "../../model/parse-json.ts";
import { errorBeforeSending, show, type Operation } from "../failure.ts";
import type { ArchiveInput, InputProperty } from "./archive-input.ts";

/** What a message contains about the measurement that its media belong to. */
export interface MessageFacts {
  readonly references: GivenReferences;
  readonly device: string | null;
  readonly instrument: Instrument;
  readonly local: LocalFacts | null;
  /** The device that keeps the video of this parcel's recording after a stop. */
  readonly filmed: LocalFacts | null;
  /** The facts by which its transaction is found. */
  readonly sought: LocalMeasurement | null;
  readonly recording: Intent["recording"];
  readonly recordedBy: RecordedBy | null;
  readonly deviceLocalTime: string | null;
  readonly deviceUtcTime: string | null;
  readonly legalForTrade: boolean | null;
  readonly billable: Intent["billable"];
  readonly scan: Intent["scan"];
  /** The text of measurement.json. */
  readonly measurement: string | null;
  /** The exact text that the device sent. */
  readonly raw: string | null;
}

/** The deployed device on the local network that measured, and its result. */
export type LocalFacts = Omit<MeasuredBy, "images">;

/** On one message. */
const mostMedia = 10_000;
const localSurfaces: readonly unknown[] = ["newer-device", "earlier-device"];

/**
 * Reads what earlier nodes put on a message: the measurement from payload (or from msg.measurement, if payload is a
 * picture by now), its exact text from rawResponse, and the references beside them.
 */
export function readFacts(msg: ArchiveInput): MessageFacts {
  const carried = carriedBy(msg);
  const rawResponse = msg.rawResponse;
  const raw = typeof rawResponse === "string" && rawResponse !== "" ? rawResponse : null;
  const fields = carried ?? (raw === null ? null : parseFields(raw, recordLimits)) ?? {};
  const read = (name: InputProperty): string | null => textOf(msg[name]) ?? textOf(fields[name]);
  const legalForTrade = fields["legalForTrade"] ?? fields["dimensionsLegalForTrade"];
  return {
    references: {
      transactionReference: read("transactionReference"),
      customReference1: read("customReference1"),
      customReference2: read("customReference2"),
      customReference3: read("customReference3"),
      barcodeReference: read("barcodeReference"),
    },
    device: read("device") ?? read("deviceReference") ?? read("deviceClientId") ?? read("cameraSerialId"),
    instrument: readInstrument(fieldsOf(msg.measuredBy), fields),
    local: readLocal(msg, fields),
    filmed: readFilmed(msg),
    sought: readLocalMeasurement(msg.measuredBy, carried ?? decodeAnswer(msg, fields)),
    recording: readRecording(msg),
    recordedBy: fieldsOf(msg.measuredBy) === null ? null : readRecordedBy(msg),
    deviceLocalTime: textOf(fields["dateTimeLocal"]),
    deviceUtcTime: textOf(fields["dateTimeUtc"]),
    legalForTrade: typeof legalForTrade === "boolean" ? legalForTrade : null,
    ...readParcel(msg),
    measurement: carried === undefined ? null : `${JSON.stringify({ ...carried }, null, 2)}\n`,
    raw,
  };
}

/** Reads what is known of the parcel besides its measurement: what is billed for it, and the scan of its label. */
export function readParcel(msg: ArchiveInput): Pick<MessageFacts, "billable" | "scan"> {
  return { billable: readAs(billedSchema, msg.billable), scan: readAs(scannedSchema, msg.scan) };
}

/** Reads the serial number and the certificate of the device, from the result or else from msg.measuredBy. */
function readInstrument(by: Fields | null, result: Fields): Instrument {
  return {
    serialNumber: textOf(result["deviceSerialNumber"]) ?? textOf(by?.["serialNumber"]),
    certificate: textOf(result["deviceCertificate"]) ?? textOf(by?.["certificate"]),
  };
}

/** Reads what another node put on the message; null if it is something else. */
function readAs<const TSchema extends v.GenericSchema>(
  schema: TSchema,
  given: unknown,
): v.InferOutput<TSchema> | null {
  const read = v.safeParse(schema, given);
  return read.success ? read.output : null;
}

/** A measurement through the cloud has a transaction already. */
function readLocal(msg: ArchiveInput, fields: Fields): LocalFacts | null {
  const by = fieldsOf(msg.measuredBy);
  const id = textOf(by?.["id"]);
  if (by === null || id === null || !localSurfaces.includes(by["surface"])) {
    return null;
  }
  return {
    id,
    name: textOf(by["name"]) ?? id,
    imageIdentifier: textOf(msg.imageIdentifier) ?? textOf(fields["imageIdentifier"]),
    videoAt: null,
  };
}

function readFilmed(msg: ArchiveInput): LocalFacts | null {
  const video = fieldsOf(msg.video);
  const [device, videoAt] = [readRecordedBy(msg), textOf(video?.["at"])];
  if (video?.["recording"] !== "own" || device === null || videoAt === null) {
    return null;
  }
  return { ...device, imageIdentifier: null, videoAt };
}

/** Reads whose recording a stop has ended. */
function readRecordedBy(msg: ArchiveInput): RecordedBy | null {
  const video = fieldsOf(msg.video);
  const device = fieldsOf(video?.["device"]);
  const id = textOf(device?.["id"]);
  return video?.["action"] !== "stop" || id === null ? null : { id, name: textOf(device?.["name"]) ?? id };
}

/** Decodes the device's exact answer, if that is all that the message still has of the result. */
function decodeAnswer(msg: ArchiveInput, answer: Fields): unknown {
  try {
    const surface = fieldsOf(msg.measuredBy)?.["surface"];
    return decodeMeasureResult(answer, surface === "earlier-device" ? surface : "newer-device");
  } catch {
    return undefined;
  }
}

/**
 * Reads the recording from the message. If the message has a start that nobody has followed, it is unknown whose the
 * recording is; after a cancel there is none.
 */
function readRecording(msg: ArchiveInput): Intent["recording"] {
  const video = fieldsOf(msg.video);
  if (video === null || video["action"] === "cancel") {
    return null;
  }
  const { transactionReference, at, recording = "unknown", by = null } = video;
  const read = v.safeParse(recordingSchema, { transactionReference, at, recording, by });
  return read.success ? read.output : null;
}

/**
 * Reads the media on the message; none if its payload is something else. Throws ERR_INPUT for a value that only looks
 * like media.
 */
export function readMedia(msg: ArchiveInput, operation: Operation): GivenMedium[] {
  const payload: unknown = msg.payload;
  // What the list has, however many holes are between: one of a few bytes can have a length of 4 billion.
  const there: readonly unknown[] = Array.isArray(payload) ? Object.values(payload) : [payload];
  if (!there.some((one) => one instanceof Uint8Array || mediumOf(one, msg, false) !== null)) {
    return [];
  }
  const refuse = (value: string) =>
    errorBeforeSending(operation, "inputValue", {
      field: verbatim("msg.payload"),
      value,
      problem: phrase("notMedium"),
    });
  if (Array.isArray(payload) && payload.length > mostMedia) {
    throw refuse(`[…] (${payload.length})`);
  }
  // A hole is no medium either.
  const given: readonly unknown[] = Array.isArray(payload) ? Array.from<unknown>(payload) : [payload];
  return given.map((one) => {
    const medium = mediumOf(one, msg, given.length === 1);
    if (medium === null) {
      throw refuse(show(one));
    }
    return medium;
  });
}

function mediumOf(given: unknown, msg: ArchiveInput, isOnly: boolean): GivenMedium | null {
  const ofMessage = {
    contentType: isOnly ? textOf(msg.contentType) : null,
    contentId: isOnly ? textOf(msg.contentId) : null,
    description: isOnly ? textOf(msg.description) : null,
    filename: isOnly ? textOf(msg.filename) : null,
  };
  if (given instanceof Uint8Array) {
    return given.length === 0 ? null : { content: given, ...ofMessage };
  }
  const fields = fieldsOf(given);
  if (fields === null) {
    return null;
  }
  const { path, bytes, sha256 } = fields;
  if (typeof path !== "string" || typeof bytes !== "number" || typeof sha256 !== "string") {
    return null;
  }
  const contentType = textOf(fields["contentType"]) ?? ofMessage.contentType;
  return {
    content: { path, bytes, sha256: sha256.toLowerCase() },
    ...ofMessage,
    contentType,
    filename: path,
  };
}

/** The measurement on a message: from payload, or from msg.measurement. */
export function carriedBy(msg: ArchiveInput): Fields | undefined {
  return [msg.payload, msg.measurement].map(measurementOf).find((one) => one !== null);
}

/** The result of a measurement, or a webhook's record; null if it is something else. */
export function measurementOf(value: unknown): Fields | null {
  const fields = fieldsOf(value);
  const isMeasurement = Array.isArray(fields?.["measuredObjects"]) || fields?.["source"] === "webhook";
  return isMeasurement ? fields : null;
}

function textOf(value: unknown): string | null {
  if (typeof value === "number" && Number.isFinite(value)) {
    return String(value);
  }
  return typeof value === "string" && value !== "" ? value : null;
}
