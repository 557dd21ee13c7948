import * as v from "valibot";

/** A medium that is whole on the disk. */
export interface StoredItem {
  /** Name of the file in the package. */
  readonly path: string;
  readonly contentId: string | null;
  readonly description: string | null;
  readonly contentTypeAnnounced: string | null;
  readonly contentTypeFound: string | null;
  readonly bytes: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
  /** Path of the URL it came from; null for what a message brought. */
  readonly url: string | null;
}

/** A package under its final name. */
export interface PlacedPackage {
  /** The package's folder below the store's folder, with slashes. */
  readonly path: string;
  /** Of its manifest. */
  readonly sha256: string;
}

const optionalText = v.nullable(v.string());

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
  /** The package's folder below the store's folder, each part safe as a name. */
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

/** The long texts of an intent: they stay in the database until they are needed. */
export type IntentTexts = Pick<Intent, "measurement" | "raw" | "keep">;

/** What of an intent is in memory while its job is open. */
export type IntentFacts = Omit<Intent, keyof IntentTexts>;

/** Undefined for what is not an intent as this version writes it. */
export function decodeIntent(value: unknown): Intent | undefined {
  const result = v.safeParse(intent, value, { abortEarly: true });
  return result.success ? result.output : undefined;
}
