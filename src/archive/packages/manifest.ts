import { createRequire } from "node:module";
import * as v from "valibot";
import { measurementFileName, rawFileName } from "../archive-disk.ts";

const optionalText = v.nullable(v.string());
const sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const bytes = v.pipe(v.number(), v.integer(), v.minValue(0));

/** One name in the package: never a way into another folder. */
const fileName = v.pipe(v.string(), v.regex(/^(?!\.{1,2}$)[^/\\\0]+$/));

const file = v.object({ path: fileName, bytes, sha256 });

const item = v.object({
  ...file.entries,
  contentId: optionalText,
  description: optionalText,
  contentTypeAnnounced: optionalText,
  contentTypeFound: optionalText,
  url: optionalText,
});

const manifest = v.object({
  schemaVersion: v.literal(1),
  software: v.object({ name: v.string(), version: v.string() }),
  job: v.string(),
  source: v.picklist(["cloud", "message"]),
  cloud: optionalText,
  transactionId: v.string(),
  references: v.object({
    transactionReference: optionalText,
    customReference1: optionalText,
    customReference2: optionalText,
    customReference3: optionalText,
    barcodeReference: optionalText,
  }),
  device: optionalText,
  times: v.object({
    deviceLocal: optionalText,
    deviceUtc: optionalText,
    accepted: v.string(),
    archived: v.string(),
  }),
  legalForTrade: v.nullable(v.boolean()),
  complete: v.boolean(),
  missing: v.array(v.string()),
  items: v.array(item),
  measurement: v.nullable(v.object({ ...file.entries, path: v.literal(measurementFileName) })),
  raw: v.nullable(v.object({ ...file.entries, path: v.literal(rawFileName) })),
  previous: v.nullable(v.object({ path: v.string(), sha256 })),
});

/** manifest.json: what a package holds and where it comes from. docs/manifest.schema.json says it for others. */
export type Manifest = v.InferOutput<typeof manifest>;

/** Any larger file is none. */
export const largestManifestBytes = 16 * 1024 * 1024;

/** Reads the text of a manifest.json; undefined where it is none, or one of a later version. */
export function readManifest(text: string): Manifest | undefined {
  try {
    const result = v.safeParse(manifest, JSON.parse(text), { abortEarly: true });
    return result.success ? result.output : undefined;
  } catch {
    return undefined;
  }
}

export function writeManifest(content: Manifest): string {
  return `${JSON.stringify(content, null, 2)}\n`;
}

/** All files that a manifest names. */
export function filesOf({
  items,
  measurement,
  raw,
}: Manifest): { path: string; bytes: number; sha256: string }[] {
  return [...items, measurement, raw].filter((one) => one !== null);
}

/** What writes the packages, for their manifests. */
export function software(): Manifest["software"] {
  const found: unknown = createRequire(import.meta.url)("@dimflow/node-red-dimensioner/package.json");
  return v.parse(v.object({ name: v.string(), version: v.string() }), found);
}
