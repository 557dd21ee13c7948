import * as v from "valibot";

/** Schemas of the answers of the page's server, as far as the page shows them. */

const text = v.nullable(v.string());
const number = v.nullable(v.number());

export const me = v.object({
  name: v.string(),
  right: v.picklist(["read", "manage"]),
  canLogOut: v.boolean(),
});
export type Me = v.InferOutput<typeof me>;

const file = v.object({
  name: v.string(),
  description: text,
  contentType: text,
  bytes: v.number(),
  sha256: v.string(),
});
export type PackageFile = v.InferOutput<typeof file>;

export const evidence = v.object({
  packageId: v.string(),
  location: v.string(),
  transactionId: text,
  transactionReference: text,
  customReference1: text,
  customReference2: text,
  customReference3: text,
  barcodeReference: text,
  scan: text,
  device: text,
  deviceSerialNumber: text,
  deviceCertificate: text,
  measuredAtUtc: text,
  archivedAtUtc: text,
  length: number,
  width: number,
  height: number,
  dimsUnitOfMeasure: text,
  weight: number,
  weightUnitOfMeasure: text,
  legalForTrade: v.nullable(v.boolean()),
  complete: v.boolean(),
  missing: v.array(v.string()),
  supplements: text,
  hold: v.nullable(v.object({ heldAt: text, person: text, reason: text })),
  files: v.array(file),
  problem: text,
  changed: v.boolean(),
  verifiedAtUtc: text,
  damage: text,
});
export type Evidence = v.InferOutput<typeof evidence>;

export const found = v.object({
  packages: v.array(evidence),
  more: v.boolean(),
  onlyBeginnings: v.boolean(),
  suggestions: v.array(v.string()),
});
export type Found = v.InferOutput<typeof found>;

export const undelivered = v.object({
  packages: v.array(v.object({ transactionReference: text, transactionId: text, acceptedAtUtc: v.string() })),
  count: v.number(),
});
export type Undelivered = v.InferOutput<typeof undelivered>;

export const verification = v.object({
  verdict: v.string(),
  findings: v.array(v.object({ kind: v.string(), path: v.string(), problem: v.string() })),
  findingCount: v.number(),
  verifiedAtUtc: v.string(),
  /** As in the package. */
  damage: text,
  software: v.string(),
  /** Null if no valid one covers the package. */
  timestamp: v.nullable(v.object({ atUtc: v.string(), signer: v.string(), root: text, logSize: v.number() })),
});
export type Verification = v.InferOutput<typeof verification>;

export const devices = v.object({ devices: v.array(v.string()) });

export const exported = v.object({ id: v.string() });

export const refusal = v.object({ reason: v.string(), text: v.optional(v.string()) });

export const language = v.object({ lang: v.string(), texts: v.record(v.string(), v.string()) });
