import * as v from "valibot";

const optionalText = v.nullable(v.string());

const storedItem = v.object({
  /** Name of the file in the package. */
  path: v.string(),
  contentId: optionalText,
  description: optionalText,
  contentTypeAnnounced: optionalText,
  contentTypeFound: optionalText,
  bytes: v.number(),
  /** Lower-case hexadecimal. */
  sha256: v.string(),
  /** Path of the URL it came from; null for what a message brought. */
  url: optionalText,
});

/** A medium that is whole on the disk. */
export type StoredItem = v.InferOutput<typeof storedItem>;

const references = v.object({
  transactionReference: optionalText,
  customReference1: optionalText,
  customReference2: optionalText,
  customReference3: optionalText,
  barcodeReference: optionalText,
});

/** What the host said of the parcel, as given. */
export type GivenReferences = v.InferOutput<typeof references>;

const intent = v.object({
  source: v.picklist(["cloud", "message"]),
  /** Origin of the cloud; null for what messages bring. */
  origin: optionalText,
  transactionId: v.string(),
  /** Only media of this type. */
  contentType: optionalText,
  expect: v.array(v.string()),
  /** How long to wait for what is expected, counted while the cloud answers. */
  waitMs: v.number(),
  /** How long after its acceptance the job is tried; 0: for ever. */
  giveUpMs: v.number(),
  onIncomplete: v.picklist(["error", "keep"]),
  /** The package's folder below the root, each part safe as a name. */
  folder: v.array(v.string()),
  references,
  device: optionalText,
  deviceLocalTime: optionalText,
  deviceUtcTime: optionalText,
  legalForTrade: v.nullable(v.boolean()),
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

const placed = v.object({
  /** The package's folder below the root, with slashes. */
  path: v.string(),
  /** Of its manifest. */
  sha256: v.string(),
});

/** A package under its final name. */
export type PlacedPackage = v.InferOutput<typeof placed>;

const slotted = v.object({
  /** What the item is in its job: the content id, or its place in a sequence. */
  slot: v.string(),
  item: storedItem,
});

const record = v.variant("type", [
  v.object({ type: v.literal("journal"), version: v.literal(1) }),
  v.object({
    type: v.literal("accepted"),
    job: v.string(),
    at: v.string(),
    node: v.string(),
    key: optionalText,
    intent,
    items: v.array(slotted),
  }),
  v.object({ type: v.literal("item"), job: v.string(), ...slotted.entries }),
  v.object({ type: v.literal("count"), job: v.string(), count: v.number() }),
  v.object({ type: v.literal("waited"), job: v.string(), ms: v.number() }),
  v.object({ type: v.literal("placing"), job: v.string(), key: v.string(), ...placed.entries }),
  v.object({ type: v.literal("archived"), job: v.string(), key: v.string(), ...placed.entries }),
  v.object({ type: v.literal("closed"), job: v.string() }),
  v.object({ type: v.literal("head"), ...placed.entries }),
]);

/** One line of the journal; docs/archive.md tells what each says. */
export type JournalRecord = v.InferOutput<typeof record>;

/** Undefined for a line that this version does not know. */
export function decodeRecord(value: unknown): JournalRecord | undefined {
  const result = v.safeParse(record, value, { abortEarly: true });
  return result.success ? result.output : undefined;
}
