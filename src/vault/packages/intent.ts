import * as v from "valibot";
import { customReferenceNames, localMeasurement } from "../../model/local-measurement.ts";
import { parseJson, recordLimits, listLimits, parseFields } from "../../model/parse-json.ts";
import { sha256Of } from "../../model/sha256.ts";
import type { Row } from "../../database/database.ts";

/** Where a medium came from. */
export const itemSources = ["message", "device", "cloud"] as const;

export type ItemSource = (typeof itemSources)[number];

/** A medium that is whole on the disk. */
export interface StoredItem {
  /** Name of the file in the package. */
  readonly path: string;
  readonly source: ItemSource;
  readonly contentId: string | null;
  readonly description: string | null;
  readonly contentTypeAnnounced: string | null;
  readonly contentTypeFound: string | null;
  readonly bytes: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
  /** Path of the URL on the cloud; null for what came from elsewhere. */
  readonly url: string | null;
}

const optionalText = v.nullable(v.string());

/** What a note says of a medium that the database may not know yet: the slot that it has in its job, and what it is. */
const noteOfMedium = v.object({
  slot: v.string(),
  item: v.object({
    // A note may be where others can write: nothing in it leads out of the folder of its job.
    path: v.pipe(v.string(), v.regex(/^[^/\\\0]+$/), v.notValues([".", ".."])),
    source: v.picklist(itemSources),
    contentId: optionalText,
    description: optionalText,
    contentTypeAnnounced: optionalText,
    contentTypeFound: optionalText,
    bytes: v.number(),
    sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
    url: optionalText,
  }),
});

/** Writes a note about media, by their slots. */
export function writeMediaNote(items: Iterable<readonly [slot: string, item: StoredItem]>): string {
  return JSON.stringify(Array.from(items, ([slot, item]) => ({ slot, item })));
}

/** More than a note has: a device has a few pictures and a video of a parcel. */
export const mostNoteBytes = 1024 * 1024;

/** Reads a note about media; nothing if it was not written to its end, or is none. */
export function readMediaNote(text: string): readonly (readonly [slot: string, item: StoredItem])[] {
  try {
    const read = v.safeParse(v.array(noteOfMedium), parseJson(text, recordLimits), { abortEarly: true });
    return read.success ? read.output.map(({ slot, item }) => [slot, item] as const) : [];
  } catch {
    return [];
  }
}

/** A package under its final name. */
export interface PlacedPackage {
  /** The package's folder below the store's folder, with slashes. */
  readonly path: string;
  /** Of its manifest. */
  readonly sha256: string;
}

const references = v.object({
  transactionReference: optionalText,
  customReference1: optionalText,
  customReference2: optionalText,
  customReference3: optionalText,
  barcodeReference: optionalText,
});

/** What the host said of the parcel, as given. */
export type GivenReferences = v.InferOutput<typeof references>;

/** The pictures that a device has of a measurement. */
export const pictures = ["annotated", "color", "depth"] as const;

export type Picture = (typeof pictures)[number];

/** What makes a package complete, of the media of the cloud. */
export const mediaRules = ["all", "pictures", "list", "none"] as const;

/** Which deployed device on the local network has measured, and what is asked of it. */
const measuredBy = v.object({
  /** Of the config node. */
  id: v.string(),
  name: v.string(),
  imageIdentifier: optionalText,
  /** Those that it has and that are wanted. */
  images: v.array(v.picklist(pictures)),
  /** When a stop ended this parcel's recording, whose video the device keeps; null where that is not wanted. */
  videoAt: optionalText,
});

export type MeasuredBy = v.InferOutput<typeof measuredBy>;

const recordedBy = v.object({
  /** Of the config node. */
  id: v.string(),
  name: v.string(),
});

export type RecordedBy = v.InferOutput<typeof recordedBy>;

/** The weight that is billed for the parcel, and how it was found (docs/messages.md, BillableWeight). */
export const billedSchema = v.object({
  /** A manifest would have a larger one as an integer, which is read as an ID; a parcel that weighs less than nothing is a mistake. */
  weight: v.pipe(v.number(), v.minValue(0), v.maxValue(Number.MAX_SAFE_INTEGER)),
  unit: v.picklist(["kg", "lb"]),
  basis: v.picklist(["dimensional", "actual", "minimum"]),
  explanation: v.pipe(v.string(), v.maxLength(1_000)),
  ruleId: v.pipe(v.string(), v.maxLength(100)),
  ruleDate: optionalText,
  legalForTrade: v.union([v.boolean(), v.literal("unknown")]),
  /** It is no measured value. */
  computed: v.literal(true),
});

/** The scan of the parcel's label (docs/messages.md, Scan). */
export const scannedSchema = v.object({
  text: v.pipe(v.string(), v.maxLength(10_000)),
  symbology: optionalText,
  sscc: optionalText,
});

const start = {
  transactionReference: optionalText,
  /** When the answer to it was there (ISO 8601, UTC). */
  at: v.string(),
};

/** The start of a recording, and whose it was when it ended (docs/messages.md, VideoCommand). */
export const recordingSchema = v.object({
  ...start,
  recording: v.picklist(["own", "overwritten", "cancelled", "taken", "waiting", "other", "unknown"]),
  /** The start that replaced it. */
  by: v.nullable(v.object(start)),
});

const intent = v.object({
  /** Null for a local measurement: the cloud gives one later. */
  transactionId: optionalText,
  /** Origin of the cloud whose media are collected; null: none. */
  origin: optionalText,
  /** Only where a cloud was selected and is not asked: nothing would tell the transaction of this measurement from others. */
  hasNoTransaction: v.exactOptional(v.literal(true)),
  /** Null where no device on the local network measured. */
  measuredBy: v.nullable(measuredBy),
  /** By what the transaction of its measurement is found; null where the message does not say it. */
  sought: v.nullable(localMeasurement),
  /** The recording that the measurement ended; null where no start was seen. */
  recording: v.nullable(recordingSchema),
  /** The device whose recording was stopped, beside a measurement: its video is not in the measurement's transaction. */
  recordedBy: v.exactOptional(v.nullable(recordedBy)),
  media: v.picklist(mediaRules),
  /** Only media of this type, of the cloud. */
  contentType: optionalText,
  /** Content types or descriptions, for the rule `list`. */
  expect: v.array(v.string()),
  /** So long the cloud's list must not have grown. */
  settleMs: v.number(),
  /** How long to wait for what is missing, counted while who is asked for it answers. */
  waitMs: v.number(),
  /** How long after its acceptance the job is tried; 0: for ever. */
  giveUpMs: v.number(),
  onIncomplete: v.picklist(["error", "keep"]),
  /** The package's folder below the store's folder, each part safe as a name. */
  folder: v.array(v.string()),
  references,
  /** The custom reference that is the tag; only where one is. */
  tag: v.exactOptional(v.picklist(customReferenceNames)),
  device: optionalText,
  /** Who did the work; only where the message says it. */
  operator: v.exactOptional(optionalText),
  /** What kind of work it was, and what was noted about the parcel; only where the message says it. */
  work: v.exactOptional(optionalText),
  note: v.exactOptional(optionalText),
  /** What its owner has typed in of it, wherever it is: on the local network or behind the cloud. */
  instrument: v.object({ serialNumber: optionalText, certificate: optionalText }),
  deviceLocalTime: optionalText,
  deviceUtcTime: optionalText,
  legalForTrade: v.nullable(v.boolean()),
  /** Null where no billable weight was worked out. */
  billable: v.nullable(billedSchema),
  /** Null where no label was scanned. */
  scan: v.nullable(scannedSchema),
  /** The text of measurement.json. */
  measurement: optionalText,
  /** The text of measurement.raw. */
  raw: optionalText,
  /** Message properties that survive a restart. */
  keep: v.record(v.string(), v.unknown()),
  /** The name by which the message chose the cloud, where it did. */
  cloudName: optionalText,
  /** Id of the sequence, for messages that are parts of one. */
  sequence: optionalText,
});

/** Everything that a job needs, whatever happens to the process. */
export type Intent = v.InferOutput<typeof intent>;

/** The long texts of an intent: they stay in the database until they are needed. */
export type IntentTexts = Pick<Intent, "measurement" | "raw" | "keep">;

/** What of an intent is in memory while its job is open. */
export type IntentFacts = Omit<Intent, keyof IntentTexts>;

/** Whether media of the cloud are collected. */
export function asksCloud({ origin, media }: Pick<IntentFacts, "origin" | "media">): boolean {
  return origin !== null && media !== "none";
}

/** Undefined for what is not an intent as this version writes it. */
function decodeIntent(value: unknown): Intent | undefined {
  const result = v.safeParse(intent, value, { abortEarly: true });
  return result.success ? result.output : undefined;
}

/** Reads the intent in the row of a job; undefined if it is not what was written. */
export function readIntent(row: Row): Intent | undefined {
  const text = String(row["intent"]);
  return sha256Of(text) === row["intent_sha256"] ? decodeIntent(JSON.parse(text)) : undefined;
}

/** Properties of a message that is archived again. */
export type Again = Readonly<Record<string, unknown>>;

/** The properties of the message that the job was made from, as far as the job has kept them. */
export function messageOf(intent: Intent, transactionId: string | null): Again {
  const {
    references,
    tag,
    measurement,
    raw,
    billable,
    scan,
    device,
    operator = null,
    work = null,
    note = null,
    keep,
  } = intent;
  const result = measurement === null ? null : parseFields(measurement, listLimits);
  return {
    ...keep,
    transactionId,
    ...references,
    ...(tag === undefined || (intent.sought?.tag ?? null) !== null ? {} : { tag: references[tag] }),
    device,
    ...(operator === null ? {} : { operator }),
    ...(work === null ? {} : { work }),
    ...(note === null ? {} : { note }),
    ...(result === null ? {} : { payload: result }),
    ...(raw === null ? {} : { rawResponse: raw }),
    ...(billable === null ? {} : { billable }),
    ...(scan === null ? {} : { scan }),
    ...deviceOf(intent, result?.["source"]),
    ...videoOf(intent),
  };
}

/** What the measure node put on the message; nothing if the device was only asked for the video of a stop. */
function deviceOf(intent: Intent, surface: unknown = "newer-device"): Again {
  const { measuredBy, recordedBy = null, sought, instrument } = intent;
  if (measuredBy === null && recordedBy !== null) {
    // Not the device that filmed, whose transaction would have the video.
    return { measuredBy: { surface: "cloud", ...instrument } };
  }
  if (measuredBy === null || (measuredBy.videoAt !== null && recordedBy === null)) {
    return {};
  }
  const { id, name, imageIdentifier } = measuredBy;
  const { sentAt, sentSteady, references, tag = null } = sought ?? {};
  const sent = { sentAt, ...(sentSteady === undefined ? {} : { sentSteady }), references, tag };
  return {
    measuredBy: { id, name, surface, ...instrument, ...sent },
    imageIdentifier,
  };
}

/** Whose recording it was: without it, a package would be complete without its video, or have that of another parcel. */
function videoOf({ measuredBy, recordedBy = null, recording }: Intent): Again {
  const { by = null, ...told } = recording ?? {};
  const video = { ...told, ...(by === null ? {} : { by }) };
  if (recordedBy !== null) {
    return { video: { action: "stop", ...video, device: recordedBy } };
  }
  if (measuredBy !== null && measuredBy.videoAt !== null) {
    const { id, name, videoAt: at } = measuredBy;
    return { video: { action: "stop", ...video, at, recording: "own", device: { id, name } } };
  }
  return recording === null ? {} : { video: { action: "start", ...video } };
}
