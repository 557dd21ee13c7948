import * as v from "valibot";
import { DimensionerError } from "../../errors/dimensioner-error.ts";
import { customReferenceNames } from "../../model/local-measurement.ts";
import { listLimits, parseJson, parseFields, recordLimits } from "../../model/parse-json.ts";
import { firstOfEach } from "../../rules/first-of-each.ts";
import { diskFacts, measurementFileName, rawFileName } from "../archive-disk.ts";
import { billedSchema, itemSources, mediaRules, pictures, recordingSchema, scannedSchema } from "./intent.ts";
import { join } from "node:path";
import { isS3Url } from "../s3/bucket-address.ts";
import type { ArchivedFile } from "../../model/shapes.ts";

/** A schema with what it means, for docs/manifest.schema.json, which is made from here (tools/write-docs). */
function described<const TSchema extends v.GenericSchema>(meaning: string, schema: TSchema) {
  return v.pipe(schema, v.description(meaning));
}

const optionalText = (meaning: string) => described(meaning, v.nullable(v.string()));

const sha256 = described("SHA-256, lower-case hexadecimal.", v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)));
const bytes = described("Length of the file.", v.pipe(v.number(), v.integer(), v.minValue(0)));

/** One name in the package: never a way into another folder. */
const fileName = described(
  "A name in the package's folder.",
  v.pipe(v.string(), v.regex(/^(?!\.{1,2}$)[^/\\\0]+$/)),
);

const figure = v.nullable(v.number());
const unit = v.nullable(v.string());

const measuredSchema = v.object({
  length: figure,
  width: figure,
  height: figure,
  dimsUnitOfMeasure: unit,
  weight: figure,
  weightUnitOfMeasure: unit,
});

/** The size and the weight of a parcel; null for what is not known. */
export type Measured = v.InferOutput<typeof measuredSchema>;

const file = v.object({ path: fileName, bytes, sha256 });

const item = v.object({
  ...file.entries,
  path: described(
    "A name in the package's folder. Media from several sources have the same file if their content is the same.",
    fileName,
  ),
  source: described(
    "Where it came from; not in packages of version 0.1.",
    v.optional(v.picklist(itemSources)),
  ),
  contentId: optionalText("In the cloud."),
  description: optionalText("The cloud's own."),
  contentTypeAnnounced: optionalText("What the cloud or the message said it is."),
  contentTypeFound: optionalText("What the bytes show it is; null if they show nothing reliable."),
  recognized: v.exactOptional(
    described(
      "Only where the bytes are of no known format, or a video without its index: it counts as neither an image nor a video.",
      v.literal(false),
    ),
  ),
  url: optionalText("Path on the cloud; null for media from elsewhere."),
});

const expected = v.object({
  media: described("The rule for the cloud's media.", v.picklist(mediaRules)),
  contentType: optionalText("Only media of this type, of the cloud."),
  expect: described("With the rule `list`: content types or descriptions.", v.array(v.string())),
  images: described("Images of the device.", v.array(v.picklist(pictures))),
  deviceVideo: described("Whether the video that the device kept is one of them.", v.boolean()),
  video: described("Whether a video was started for this parcel.", v.boolean()),
  parts: v.exactOptional(
    described(
      "How many messages have to be sent again, several as one sequence, because some of their media are missing; only then.",
      v.pipe(v.number(), v.integer(), v.minValue(1)),
    ),
  ),
});

const leftOut = v.object({
  contentId: described("In the cloud.", v.string()),
  description: optionalText("The cloud's own."),
  reason: described(
    "Whose recording it is, as in `recording`.",
    v.picklist(["overwritten", "cancelled", "taken", "waiting", "other"]),
  ),
});

export const manifestSchema = described(
  "manifest.json of a package that dimensioner-archive has written.",
  v.object({
    schemaVersion: v.literal(1),
    software: described("What wrote the package.", v.object({ name: v.string(), version: v.string() })),
    job: described("The ID of the job and of its package in the store's database.", v.string()),
    store: described(
      "The ID of the store's database; null in packages of version 0.1, which had none.",
      v.optional(v.nullable(v.string())),
    ),
    source: described(
      "Only in packages of version 0.1: whether the media came from the cloud or with messages.",
      v.exactOptional(v.picklist(["cloud", "message"])),
    ),
    cloud: optionalText("Origin of the cloud whose media were collected; null if none was asked."),
    transactionId: optionalText(
      "As given, or as found; null for a local measurement whose transaction is not known.",
    ),
    legacyTransactionId: described(
      "The integer ID of a transaction that was found by its webhook record and whose ID is a GUID; null otherwise.",
      v.optional(v.nullable(v.string())),
    ),
    references: described(
      "What the host said about the parcel, unchanged; the folder's name may have been made safe.",
      v.object({
        transactionReference: optionalText("As given."),
        customReference1: optionalText("As given."),
        customReference2: optionalText("As given."),
        customReference3: optionalText("As given."),
        barcodeReference: optionalText("As given."),
      }),
    ),
    tag: v.exactOptional(
      described(
        "Which custom reference is the tag: an ID by which programs find the measurement, and which people are not shown; only if one is.",
        v.picklist(customReferenceNames),
      ),
    ),
    device: optionalText("Which device measured, as given."),
    operator: v.exactOptional(
      described("Who did the work, as `msg.operator` said it; only if it did.", v.string()),
    ),
    work: v.exactOptional(
      described(
        "What kind of work it was, as `msg.work` said it, such as packing, return or inspection; packing if it said nothing.",
        v.string(),
      ),
    ),
    note: v.exactOptional(
      described("What was noted about the parcel, as `msg.note` said it; only if it did.", v.string()),
    ),
    instrument: described(
      "What is known about the device as a measuring instrument, whether on the local network or used through the cloud.",
      v.optional(
        v.object({
          serialNumber: optionalText("As its owner has typed it in; null if it is not."),
          certificate: optionalText(
            "The number of its approval or verification for trade, as typed into its config node; null if it is not set there.",
          ),
        }),
      ),
    ),
    measuredBy: described(
      "The device on the local network that measured; null if none did.",
      v.optional(
        v.nullable(
          v.object({
            id: described("Of its config node.", v.string()),
            name: described("As its config node has it.", v.string()),
            imageIdentifier: optionalText("As the device sent it."),
            videoAt: described(
              "When the recording was stopped whose video the device kept (ISO 8601, UTC); only in such a package.",
              v.exactOptional(v.string()),
            ),
          }),
        ),
      ),
    ),
    measured: described(
      "The size and the weight, as measurement.json has them; null without a measurement.",
      v.optional(v.nullable(measuredSchema)),
    ),
    recording: described(
      "The start of the recording that the measurement has ended, and whose it was; if the message does not say it, as in the packages that this one adds to. Null if no start was seen.",
      v.optional(v.nullable(recordingSchema)),
    ),
    recordedBy: v.exactOptional(
      described(
        "The device of that recording, if a stop ended it and another device measured; only in such a package.",
        v.object({
          id: described("Of its config node.", v.string()),
          name: described("As its config node has it.", v.string()),
        }),
      ),
    ),
    times: v.object({
      deviceLocal: optionalText("As the device sent it."),
      deviceUtc: optionalText("As the device sent it."),
      accepted: described("When the job was on the disk (ISO 8601, UTC).", v.string()),
      archived: described("When this manifest was written (ISO 8601, UTC).", v.string()),
      retainedUntil: v.exactOptional(
        described(
          "Until when the object store was told to let nobody delete the package (Object Lock; ISO 8601, UTC); only if it was.",
          v.string(),
        ),
      ),
    }),
    legalForTrade: described("As received.", v.nullable(v.boolean())),
    billable: described(
      "The weight that is billed, as the flow calculated it: not a measured value. Null if it did not.",
      v.optional(v.nullable(billedSchema)),
    ),
    scan: described(
      "The scan of the parcel's label; null if none was.",
      v.optional(v.nullable(scannedSchema)),
    ),
    complete: described(
      "Whether everything that was expected is here, or in the packages that this one adds to.",
      v.boolean(),
    ),
    expected: described(
      "The rule that decided `complete`, with what the packages that this one adds to were to hold; not in packages of version 0.1.",
      v.optional(expected),
    ),
    missing: described(
      "What was expected and is not here, nor in the packages that this one adds to.",
      v.array(v.string()),
    ),
    leftOut: described(
      "Media that the cloud has for this transaction but that were not archived, because they show another parcel.",
      v.optional(v.array(leftOut)),
    ),
    supplements: described(
      "The manifest of the package that this one completes. It contains only what that package and its earlier supplements do not. Null for a package that is not a supplement.",
      v.optional(
        v.nullable(
          v.object({ path: described("From the store's folder, with slashes.", v.string()), sha256 }),
        ),
      ),
    ),
    items: described("The images and videos.", v.array(item)),
    measurement: described(
      "measurement.json, the result as the flow had it.",
      v.nullable(v.object({ ...file.entries, path: v.literal(measurementFileName) })),
    ),
    raw: described(
      "measurement.raw, byte for byte what the device sent.",
      v.nullable(v.object({ ...file.entries, path: v.literal(rawFileName) })),
    ),
  }),
);

/** manifest.json: what a package holds and where it comes from. docs/manifest.schema.json says the same for others. */
export type Manifest = v.InferOutput<typeof manifestSchema>;

/** What a package was judged by. */
export type Expected = v.InferOutput<typeof expected>;

/** What of the cloud's media is another parcel's. */
export type LeftOut = v.InferOutput<typeof leftOut>;

/** Any larger file is none. */
export const largestManifestBytes = 16 * 1024 * 1024;

/** Reads the text of a manifest.json; undefined where it is none, or one of a later version. */
export function readManifest(text: string): Manifest | undefined {
  try {
    const result = v.safeParse(manifestSchema, parseJson(text, listLimits), { abortEarly: true });
    return result.success ? result.output : undefined;
  } catch {
    return undefined;
  }
}

/** Throws ERR_FILE for a manifest that nobody could read: a package without one that can be read is lost. */
export function writeManifest(content: Manifest): string {
  const text = `${JSON.stringify(content, null, 2)}\n`;
  if (Buffer.byteLength(text) > largestManifestBytes || readManifest(text) === undefined) {
    throw new DimensionerError("packageTooLarge", diskFacts, { count: content.items.length });
  }
  return text;
}

/** The references of a parcel for people: without the tag. */
export function shownReferences({ references, tag }: Manifest): Manifest["references"] {
  return tag === undefined ? references : { ...references, [tag]: null };
}

/** All files that a manifest names, each once: media from several sources share one if their content is the same. */
export function filesOf({
  items,
  measurement,
  raw,
}: Manifest): { path: string; bytes: number; sha256: string }[] {
  const files = [...items, measurement, raw].filter((one) => one !== null);
  // Only what is said of a file twice and alike is left out: anything else is for the reader to find.
  return firstOfEach(files, ({ sha256, bytes, path }) => `${sha256} ${bytes} ${path}`);
}

/** The path of something in a folder; in a bucket, whose folders begin with `s3://`, its address. */
function addressIn(folder: string, name: string): string {
  return isS3Url(folder) ? `${folder.replace(/\/$/, "")}/${name}` : join(folder, name);
}

/** The images and videos of a package, as messages name them: with absolute paths, or addresses in a bucket. */
export function archivedFiles(folder: string, { items }: Manifest): ArchivedFile[] {
  return items.map(({ path, source, ...item }) => ({
    path: addressIn(folder, path),
    source: source ?? null,
    contentId: item.contentId,
    description: item.description,
    contentType: item.contentTypeFound ?? item.contentTypeAnnounced,
    bytes: item.bytes,
    sha256: item.sha256,
    ...(item.contentTypeFound === null && { recognized: false }),
  }));
}

/** The longest measurement.json that this package writes. */
export const mostMeasurementBytes = 32 * 1024 * 1024;

/** Reads the size and the weight from the fields of a measurement. */
export function measuredOf(fields: Readonly<Record<string, unknown>>): Measured {
  return {
    length: figureOf(fields, "length"),
    width: figureOf(fields, "width"),
    height: figureOf(fields, "height"),
    dimsUnitOfMeasure: unitOf(fields, "dimsUnitOfMeasure"),
    weight: figureOf(fields, "weight"),
    weightUnitOfMeasure: unitOf(fields, "weightUnitOfMeasure"),
  };
}

/** The same from the text of measurement.json; null without one. */
export function measuredIn(text: string | null): Measured | null {
  return text === null ? null : measuredOf(parseFields(text, recordLimits) ?? {});
}

/**
 * A measured value; null for what is not there, and for what cannot be one. A manifest would have numbers beyond 2^53 as integers, which
 * are read as IDs.
 */
export function figureOf(fields: Readonly<Record<string, unknown>>, name: string): number | null {
  const value = fields[name];
  return typeof value === "number" && Math.abs(value) <= Number.MAX_SAFE_INTEGER ? value : null;
}

/** The unit of a measured value; null for what is not there. */
export function unitOf(fields: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = fields[name];
  return typeof value === "string" && value !== "" ? value : null;
}
