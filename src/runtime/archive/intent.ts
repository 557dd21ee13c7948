/** Reads from a message what to archive: its media, the measurement that they belong to, and what of the message survives a restart. */
import type { NodeAPI } from "node-red";
import * as v from "valibot";
import { readExpected } from "../../cloud/expected-media.ts";
import { type Phrase, field, phrase, verbatim } from "../../errors/interpolation.ts";
import { encodePart } from "../../http/call.ts";
import type { GivenMedium } from "../../jobs/intake.ts";
import { type Fields, fieldsOf, isContainer } from "../../model/containers.ts";
import type { Instrument } from "../../model/instrument.ts";
import {
  type LocalMeasurement,
  customReferenceNames,
  isTag,
  readLocalMeasurement,
  referenceNames,
} from "../../model/local-measurement.ts";
import { decodeMeasureResult } from "../../model/measure-result.ts";
import { isJsonLonger, parseFields, recordLimits } from "../../model/parse-json.ts";
import type { FlagProperty, NumberProperty } from "../../properties/property-table.ts";
import { commaSeparated, layoutProblem } from "../../rules/names.ts";
import {
  type GivenReferences,
  type Intent,
  type MeasuredBy,
  type Picture,
  type RecordedBy,
  billedSchema,
  pictures,
  recordingSchema,
  scannedSchema,
} from "../../vault/packages/intent.ts";
import { bytesOf } from "../../scan/read-code.ts";
import { packageFolder } from "../../vault/packages/layout.ts";
import { childrenOf, refuseTooDeep } from "../action/message.ts";
import { type ValueReader, asReference, readSetting } from "../action/values.ts";
import { SettingsReader, checkNamedProperty, readNamedProperty } from "../config/settings.ts";
import { type Operation, errorBeforeSending, show, type Message } from "../messages.ts";

/** The properties of an archive node that define its jobs. */
export interface IntentProperties {
  readonly cloudFrom: string;
  readonly layout: string;
  readonly images: string;
  readonly deviceVideo: string | boolean;
  readonly transactionId: string;
  readonly transactionIdType: string;
  readonly media: string;
  readonly contentType: string;
  readonly contentTypeType: string;
  readonly expect: string;
  readonly expectType: string;
  readonly settle: string | number;
  readonly wait: string | number;
  readonly onIncomplete: string;
  readonly giveUp: string | number;
  readonly keep: string;
}

/** What the intent of one message is made from. */
export interface IntentReader {
  readonly RED: NodeAPI;
  readonly msg: Message;
  readonly values: ValueReader;
  readonly operation: Operation;
  readonly properties: IntentProperties;
  /** The table of these properties. */
  readonly table: {
    readonly media: { readonly of: readonly Intent["media"][] };
    readonly onIncomplete: { readonly of: readonly ("error" | "keep")[] };
    readonly deviceVideo: FlagProperty;
    readonly settle: NumberProperty;
    readonly wait: NumberProperty;
    readonly giveUp: NumberProperty;
  };
  /** The origin of the cloud that the message or the node chooses; null for none. */
  readonly origin: string | null;
  /** The media that the message brings. */
  readonly brought: readonly GivenMedium[];
  /** What a deployed device can do; throws ERR_CONFIG where it is not deployed. */
  readonly abilitiesOf: (deviceId: string) => {
    readonly hasImages: boolean;
    readonly takesReferences: boolean;
  };
  /** The name of a device behind the cloud, by its ID there or by its registration code; null if nobody knows it. Never rejects. */
  readonly nameOf: (cloudId: string) => Promise<string | null>;
}

/** Such a list has at most 1,000 entries, and real ones fewer than ten. The manifest repeats those that are missing. */
const longestExpected = 2_000;

/** Reads what to archive from a message. Throws ERR_INPUT or ERR_CONFIG, so that nothing is accepted. */
export async function readIntent(reader: IntentReader): Promise<Intent> {
  const { RED, msg, values, operation, properties, table, origin, brought } = reader;
  const hasMedia = brought.length > 0;
  const settings = new SettingsReader("node", operation);
  const media = readSetting(operation, "media", properties.media, table.media.of);
  const onIncomplete = readSetting(operation, "onIncomplete", properties.onIncomplete, table.onIncomplete.of);
  const problem = layoutProblem(properties.layout);
  if (problem !== null) {
    throw settings.invalid("layout", problem);
  }
  const images = readImages(properties.images, settings);
  const mayHaveVideo = settings.flag("deviceVideo", table.deviceVideo.default, properties.deviceVideo);
  const {
    references,
    device: named,
    deviceReference,
    local: measured,
    filmed,
    recordedBy,
    ...facts
  } = readMeasured(reader);
  const kept = mayHaveVideo ? filmed : null;
  const local = measured === null ? kept : { ...measured, videoAt: kept?.videoAt ?? null };
  const transactionId = await readTransactionId(reader, local !== null);
  const contentType = await values.optional({
    field: "contentType",
    value: properties.contentType,
    type: properties.contentTypeType,
  });
  const expect = media === "list" ? await readExpect(reader) : [];
  const sequence = hasMedia ? (readPart(msg)?.id ?? null) : null;
  const items = brought.map(({ content: _content, ...texts }) => texts);
  demandShortTexts({ transactionId, contentType, "parts.id": sequence, items }, operation);
  const isOnlyFilmed = measured === null && kept !== null;
  const isMeasured = facts.measurement !== null || facts.raw !== null;
  if (origin === null && !hasMedia && !isOnlyFilmed && !isMeasured) {
    throw errorBeforeSending(operation, "inputNothing");
  }
  const { hasImages = false, takesReferences = false } = local === null ? {} : reader.abilitiesOf(local.id);
  if (kept !== null) {
    reader.abilitiesOf(kept.id);
  }
  const measuredBy = local === null ? null : { ...local, images: hasImages && !isOnlyFilmed ? images : [] };
  const cloudFrom = { field: "cloudFrom", name: properties.cloudFrom.trim() } as const;
  const isUnnamed = named === null && deviceReference !== null && local === null;
  const device =
    local?.name ?? named ?? (isUnnamed ? await reader.nameOf(deviceReference) : null) ?? deviceReference;
  const cloudName = cloudFrom.name === "" ? undefined : readNamedProperty(RED, msg, cloudFrom, operation);
  // A webhook's record is found by its references. A recording without a measurement has no such record, and some devices
  // take no references: without a transaction ID, the cloud is not asked then.
  const hasNoTransaction = transactionId === null && local !== null && (isOnlyFilmed || !takesReferences);
  return {
    transactionId,
    origin: hasNoTransaction ? null : origin,
    ...(hasNoTransaction && origin !== null ? { hasNoTransaction } : {}),
    measuredBy,
    recordedBy: isOnlyFilmed ? null : recordedBy,
    media,
    contentType: contentType ?? null,
    expect,
    settleMs: settings.number("settle", table.settle, properties.settle),
    waitMs: settings.number("wait", table.wait, properties.wait),
    giveUpMs: settings.number("giveUp", table.giveUp, properties.giveUp),
    onIncomplete,
    folder: packageFolder(properties.layout, {
      date: new Date().toISOString().slice(0, 10),
      reference: references.transactionReference,
      transactionId: transactionId ?? local?.imageIdentifier ?? "no-transaction",
      device,
    }),
    references,
    device,
    ...facts,
    ...(hasNoTransaction || origin === null ? readLostRecording(msg) : {}),
    keep: readKept(reader, properties.keep),
    cloudName: typeof cloudName === "string" ? cloudName : null,
    sequence,
  };
}

/** Reads the id of the transaction; null for a local measurement, whose transaction is searched for. */
async function readTransactionId(
  { msg, values, operation, properties, origin }: IntentReader,
  isLocal: boolean,
): Promise<string | null> {
  const given = await values.optional({
    field: "transactionId",
    value: properties.transactionId,
    type: properties.transactionIdType,
  });
  if (given === undefined && isLocal) {
    return null;
  }
  if (given === undefined && isLocalResult(msg)) {
    throw errorBeforeSending(operation, "inputMeasuredBy");
  }
  if (given === undefined && properties.transactionIdType === "msg" && fieldsOf(msg["measuredBy"]) === null) {
    throw errorBeforeSending(operation, "inputNotMeasured");
  }
  const transactionId = values.present("transactionId", given);
  if (origin !== null) {
    // Refused before the job is accepted.
    encodePart("cloud", operation.operation, "transactionId", transactionId);
  }
  return transactionId;
}

async function readExpect({ values, operation, properties }: IntentReader): Promise<string[]> {
  const given = { field: "expect", value: properties.expect, type: properties.expectType } as const;
  const list = await values.required(given);
  if (list.length > longestExpected) {
    throw errorBeforeSending(operation, "inputValue", {
      field: field("expect"),
      value: show(list),
      problem: phrase("tooLong", { most: longestExpected }),
    });
  }
  return readExpected(list);
}

function readImages(list: string, settings: SettingsReader): Picture[] {
  return commaSeparated(list).map((name) => {
    const found = pictures.find((one) => one === name);
    if (found === undefined) {
      throw settings.invalid("images", phrase("noneOf", { value: name, choices: pictures }));
    }
    return found;
  });
}

/** Serializes the measurement on the message. Throws ERR_INPUT if that is not possible, or if the message says too much about it. */
function readMeasured({ msg, values, operation }: IntentReader): MessageFacts {
  // A rounded number would be the reference of something else.
  parcelReferences.forEach((name) => values.reference(verbatim(`msg.${name}`), msg[name]));
  const refuse = (problem: Phrase) =>
    errorBeforeSending(operation, "inputValue", { field: verbatim("msg.payload"), value: "…", problem });
  refuseLongMeasurement(msg, operation);
  let facts: MessageFacts;
  try {
    facts = readFacts(msg);
  } catch {
    // It refers to itself, or is nested too deeply.
    throw refuse(phrase("notPlain"));
  }
  if ((facts.measurement?.length ?? 0) + (facts.raw?.length ?? 0) > longestMeasured) {
    throw refuse(phrase("measurementTooLarge"));
  }
  const { measurement: _measurement, raw: _raw, local: measuredBy, filmed: video, ...others } = facts;
  demandShortTexts({ ...others, measuredBy, video }, operation);
  return facts;
}

/**
 * Reads the position of a message in a sequence, as the core Split node and media list set it; null for a message
 * outside any. A count that is none counts as missing: the manifest has it where parts are missing.
 */
export function readPart(msg: ArchiveInput): { id: string; index: number; count: number | null } | null {
  const { parts } = msg;
  if (typeof parts !== "object" || parts === null || !("id" in parts) || !("index" in parts)) {
    return null;
  }
  const { id, index } = parts;
  if (typeof id !== "string" || !isCount(index)) {
    return null;
  }
  const count = "count" in parts && isCount(parts.count) && parts.count > 0 ? parts.count : null;
  return { id, index, count };
}

/** Whether a value is a number of things, or the place of one of them. */
function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/** Whether a device on the local network has measured: it does not know the cloud's transaction. */
function isLocalResult({ payload, imageIdentifier }: ArchiveInput): boolean {
  const source = typeof payload === "object" && payload !== null && "source" in payload ? payload.source : "";
  const hasImages = typeof imageIdentifier === "string" && imageIdentifier !== "";
  return hasImages || source === "newer-device" || source === "earlier-device";
}

/** What a message contains about the measurement that its media belong to. */
export interface MessageFacts {
  readonly references: GivenReferences;
  readonly tag?: Intent["tag"] & string;
  /** The name of the device, and by what the cloud knows it. */
  readonly device: string | null;
  readonly deviceReference: string | null;
  readonly operator: string | null;
  readonly work: string | null;
  readonly note: string | null;
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

const parcelReferences = [...referenceNames, "barcodeReference"] as const;

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
  const by = fieldsOf(msg.measuredBy);
  const deviceReference =
    read("deviceReference") ?? textOf(by?.["deviceReference"]) ?? read("deviceClientId");
  const given = read("device");
  const camera = deviceReference === null ? read("cameraSerialId") : null;
  const refer = (name: keyof GivenReferences): string | null =>
    referenceOf(msg[name]) ?? referenceOf(fields[name]);
  const references = {
    transactionReference: refer("transactionReference"),
    customReference1: refer("customReference1"),
    customReference2: refer("customReference2"),
    customReference3: refer("customReference3"),
    barcodeReference: refer("barcodeReference"),
  };
  // The sender of a record may have tags of its own: only what this flow says is its tag is no reference of the parcel.
  const tag = textOf(by?.["tag"]) ?? textOf(msg.tag);
  const tagged = customReferenceNames.find((name) => references[name] === tag);
  return {
    references,
    ...(tag !== null && isTag(tag) && tagged !== undefined ? { tag: tagged } : {}),
    // What had no name when it was measured has its code in place of it.
    device: given === deviceReference ? camera : given,
    deviceReference,
    operator: textOf(textOf(msg.operator)?.trim()),
    work: textOf(textOf(msg.work)?.trim()),
    note: textOf(textOf(msg.note)?.trim()),
    instrument: readInstrument(by, fields),
    local: readLocal(msg, fields),
    filmed: readFilmed(msg),
    sought: readLocalMeasurement(msg.measuredBy, carried ?? decodeAnswer(msg, fields)),
    recording: readRecording(msg),
    recordedBy: by === null ? null : readRecordedBy(msg),
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
function readRecordedBy(msg: Pick<ArchiveInput, "video">): RecordedBy | null {
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
function readRecording(msg: Pick<ArchiveInput, "video">): Intent["recording"] {
  const video = fieldsOf(msg.video);
  if (video === null || video["action"] === "cancel") {
    return null;
  }
  const { action, transactionReference, at, recording = "unknown", by = null } = video;
  const read = v.safeParse(recordingSchema, { transactionReference, at, recording, by });
  if (read.success) {
    return read.output;
  }
  // A flow has changed it, but a package must not forget that a video was started.
  return action === "start"
    ? {
        transactionReference: textOf(transactionReference),
        at: textOf(at) ?? "",
        recording: "unknown",
        by: null,
      }
    : null;
}

/**
 * The recording of this parcel as its measurement knew it, of a message that says nothing of it any more. A flow may have removed
 * msg.video on purpose: so nobody is asked for a video because of it, but a package that no cloud is asked for does not call itself
 * complete.
 */
function readLostRecording({
  video,
  measuredBy,
}: ArchiveInput): Partial<Pick<Intent, "recording" | "recordedBy">> {
  const known = { video: fieldsOf(measuredBy)?.["video"] };
  const recording = fieldsOf(video) === null ? readRecording(known) : null;
  const isOwn = recording?.recording === "own" || recording?.recording === "unknown";
  return isOwn ? { recording, recordedBy: readRecordedBy(known) } : {};
}

/**
 * Reads the media on the message; none if its payload is something else. Throws ERR_INPUT for a value that only looks
 * like media.
 */
export function readMedia(msg: ArchiveInput, operation: Operation): GivenMedium[] {
  const payload: unknown = msg.payload;
  // What the list has, however many holes are between: one of a few bytes can have a length of 4 billion.
  const there: readonly unknown[] = Array.isArray(payload) ? Object.values(payload) : [payload];
  const refuse = (value: string) =>
    errorBeforeSending(operation, "inputValue", {
      field: verbatim("msg.payload"),
      value,
      problem: phrase("notMedium"),
    });
  if (there.every((one) => mediumOf(one, msg, false) === undefined)) {
    if (measurementOf(payload) === null && hasMediaInside(payload)) {
      throw refuse(show(payload));
    }
    return [];
  }
  if (Array.isArray(payload) && payload.length > mostMedia) {
    throw refuse(`[…] (${payload.length})`);
  }
  // A hole is no medium either.
  const given: readonly unknown[] = Array.isArray(payload) ? Array.from<unknown>(payload) : [payload];
  return given.map((one) => {
    const medium = mediumOf(one, msg, given.length === 1);
    if (!medium) {
      throw refuse(show(one));
    }
    return medium;
  });
}

/** Whether media are somewhere in a value, as in an object of a Join node or a list of lists: they would be left out without a word. */
function hasMediaInside(payload: unknown): boolean {
  // A set goes on with what is added while it is walked.
  const containers = new Set(isContainer(payload) ? [payload] : []);
  try {
    for (const container of containers) {
      const children = childrenOf(container);
      for (let child = children.next(); child.done !== true; child = children.next()) {
        const { value } = child;
        if (mediumOf(value, {}, false) !== undefined) {
          return true;
        }
        if (isContainer(value)) {
          containers.add(value);
        }
      }
    }
  } catch {
    // What cannot be read is none.
  }
  return false;
}

/**
 * A medium whose bytes nobody else has: a flow may write into a Buffer that it has elsewhere too, between hashing and writing it. Node-RED
 * gives a copy to all but the first of several nodes.
 */
export function withOwnBytes(medium: GivenMedium): GivenMedium {
  const { content } = medium;
  return content instanceof Uint8Array ? { ...medium, content: new Uint8Array(content) } : medium;
}

/** What is a medium only once it is decoded. */
const mediumInText = /^data:(?:image|video)\//i;

/** Null for what looks like a medium, but is none as it is; undefined for what does not look like one. */
function mediumOf(given: unknown, msg: ArchiveInput, isOnly: boolean): GivenMedium | null | undefined {
  const ofMessage = {
    contentType: isOnly ? textOf(msg.contentType) : null,
    contentId: isOnly ? textOf(msg.contentId) : null,
    description: isOnly ? textOf(msg.description) : null,
    filename: isOnly ? textOf(msg.filename) : null,
  };
  const content = bytesOf(given);
  if (content !== undefined) {
    return content.length === 0 ? null : { content, ...ofMessage };
  }
  if (typeof given === "string" && mediumInText.test(given)) {
    return null;
  }
  const fields = fieldsOf(given);
  if (fields === null) {
    return undefined;
  }
  const { path, bytes, sha256 } = fields;
  if (typeof path !== "string" || typeof bytes !== "number" || typeof sha256 !== "string") {
    return undefined;
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
function carriedBy(msg: ArchiveInput): Fields | undefined {
  return [msg.payload, msg.measurement].map(measurementOf).find((one) => one !== null);
}

/** The result of a measurement, or a webhook's record; null if it is something else. */
export function measurementOf(value: unknown): Fields | null {
  const fields = fieldsOf(value);
  const isMeasurement = Array.isArray(fields?.["measuredObjects"]) || fields?.["source"] === "webhook";
  return isMeasurement ? fields : null;
}

/** What can be a reference of the parcel, by the rule for all nodes; a flag is none. */
function referenceOf(value: unknown): string | null {
  return typeof value === "boolean" ? null : (asReference(value) ?? null);
}

function textOf(value: unknown): string | null {
  if (typeof value === "number" && Number.isFinite(value)) {
    return String(value);
  }
  return typeof value === "string" && value !== "" ? value : null;
}

/**
 * The properties of a message that archive reads by themselves, beside those that its settings name: all say something of one parcel or
 * of its media.
 */
export const inputProperties = [
  "payload",
  "transactionId",
  "transactionReference",
  "customReference1",
  "customReference2",
  "customReference3",
  "barcodeReference",
  "tag",
  "device",
  "operator",
  "work",
  "note",
  "deviceReference",
  "deviceClientId",
  "cameraSerialId",
  "measurement",
  "rawResponse",
  "measuredBy",
  "imageIdentifier",
  "video",
  "billable",
  "scan",
  "contentType",
  "contentId",
  "description",
  "filename",
  "parts",
] as const;

export type InputProperty = (typeof inputProperties)[number];

/** A message as archive reads it: apart from its id, what is not in the list above cannot be read from it. */
export type ArchiveInput = Readonly<Partial<Record<InputProperty | "_msgid", unknown>>>;

/** Properties that always survive a restart. */
const alwaysKept = ["transactionId", "transactionReference", "topic"];
const longestKept = 1_000_000;

/** Throws ERR_CONFIG if no message property can have a name that is to be kept. */
export function checkKept(RED: NodeAPI, keep: string, operation: Operation): void {
  commaSeparated(keep).forEach((name) => checkNamedProperty(RED, { field: "keep", name }, operation));
}

/**
 * Reads the message properties that are to survive a restart: an object with the parts of the message that the names lead to. What the
 * message does not have is missing in it. Throws ERR_CONFIG if no property can have a name, ERR_INPUT if one cannot be kept.
 */
function readKept(
  { RED, msg, operation }: Pick<IntentReader, "RED" | "msg" | "operation">,
  keep: string,
): Record<string, unknown> {
  const refuse = (name: string, problem: Phrase) =>
    errorBeforeSending(operation, "inputValue", { field: verbatim(`msg.${name}`), value: "…", problem });
  const wanted = [...alwaysKept, ...commaSeparated(keep)].map((name) => {
    checkNamedProperty(RED, { field: "keep", name }, operation);
    return { name, path: pathOf(RED, msg, name) };
  });
  // What is kept as a whole is the message's own, and nothing is written into that.
  wanted.sort((one, other) => one.path.length - other.path.length);
  const kept: Record<string, unknown> = {};
  const paths: Path[] = [];
  let length = 0;
  for (const { name, path } of wanted) {
    if (paths.some((outer) => isWithin(outer, path))) {
      continue;
    }
    try {
      const value = valueAt(msg, path);
      if (value !== undefined && putAt(kept, path, value)) {
        paths.push(path);
        const entry = [path, value];
        length += isJsonLonger(entry, longestKept - length) ? Infinity : JSON.stringify(entry).length;
      }
    } catch {
      throw refuse(name, phrase("notPlain"));
    }
    if (length > longestKept) {
      throw refuse(name, phrase("keptTooLarge"));
    }
  }
  // After a restart the message of the job has them, and there may be more wires by then.
  refuseTooDeep(kept, operation);
  return kept;
}

// Where the name of a property leads in a message, for what is written to a message after a restart. Node-RED's own setMessageProperty
// would make a list of 200 million elements for items[200000000].

export type Path = readonly (string | number)[];

/**
 * The keys that lead to a property; none if its name refers to another one that the message does not have, as in items[msg.index], or
 * that is neither a text nor a number.
 */
export function pathOf(RED: NodeAPI, msg: Message, name: string): Path {
  let keys: readonly unknown[];
  try {
    keys = RED.util.normalisePropertyExpression(name.replace(/^msg\./, ""), msg);
  } catch {
    return [];
  }
  const path = keys.filter((key) => typeof key === "string" || typeof key === "number");
  return path.length === keys.length ? path : [];
}

/** What a path leads to; undefined for nothing. */
function valueAt(msg: object, path: Path): unknown {
  return path.length === 0 ? undefined : path.reduce<unknown>(readKey, msg);
}

function readKey(from: unknown, key: string | number): unknown {
  return (typeof from === "object" && from !== null) || typeof from === "string"
    ? Reflect.get(Object(from), key)
    : undefined;
}

/** Whether the second path leads to what the first one leads to, or into it. */
function isWithin(outer: Path, inner: Path): boolean {
  return outer.every((key, index) => String(key) === String(inner[index]));
}

/**
 * Puts a value where a path leads, in objects that are made where there is nothing yet, also in place of a list: an object that has
 * the element 1 is not taken for the whole list. Returns false if it cannot be put there: a value without properties is in between, or
 * it would be a new element of a list.
 */
export function putAt(target: object, [key, ...rest]: Path, value: unknown): boolean {
  // A key __proto__ would not become a property.
  if (key === undefined || key === "__proto__" || (Array.isArray(target) && !isElement(target, key))) {
    return false;
  }
  if (rest.length === 0) {
    return Reflect.set(target, key, value);
  }
  const inside: unknown = Object.hasOwn(target, key) ? Reflect.get(target, key) : null;
  if (inside !== null && inside !== undefined) {
    return typeof inside === "object" && putAt(inside, rest, value);
  }
  const made = {};
  return putAt(made, rest, value) && Reflect.set(target, key, made);
}

/** Whether a list has it; its length is none. */
function isElement(list: readonly unknown[], key: string | number): boolean {
  return key !== "length" && Object.hasOwn(list, key);
}

/** In characters: a device's response has at most 5 MB, and is somewhat longer as measurement.json. */
const longestMeasured = 16_000_000;

/** Throws ERR_INPUT if the measurement on a message is too large, before it is serialized: that could take minutes. */
function refuseLongMeasurement(msg: ArchiveInput, operation: Operation): void {
  let isLonger = false;
  try {
    isLonger = isJsonLonger(carriedBy(msg), longestMeasured, 2);
  } catch {
    // It cannot be serialized, which is found at once when that is tried.
  }
  if (isLonger) {
    throw errorBeforeSending(operation, "inputValue", {
      field: verbatim("msg.payload"),
      value: "…",
      problem: phrase("measurementTooLarge"),
    });
  }
}

/** As long as the text of a scan may be; real ones have a few dozen characters. */
const longestText = 10_000;

/**
 * Throws ERR_INPUT for a text that is too long to be in a manifest: one of megabytes would make it too large to be read. The error names
 * it by its place in `values`.
 */
function demandShortTexts(values: object, operation: Operation): void {
  for (const [name, text] of textsIn(values)) {
    if (text.length > longestText) {
      throw errorBeforeSending(operation, "inputValue", {
        field: verbatim(name),
        value: show(text),
        problem: phrase("tooLong", { most: longestText }),
      });
    }
  }
}

function* textsIn(values: object, outer = ""): Generator<readonly [name: string, text: string]> {
  for (const [key, value] of Object.entries<unknown>({ ...values })) {
    const name = `${outer}${key}`;
    if (typeof value === "string") {
      yield [name, value];
    } else if (typeof value === "object" && value !== null) {
      yield* textsIn(value, `${name}.`);
    }
  }
}
