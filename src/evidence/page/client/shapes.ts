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

const timesInDoubt = v.array(
  v.object({ first: v.string(), firstAt: v.string(), second: v.string(), secondAt: v.string() }),
);

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
  numbers: v.array(v.object({ number: v.string(), addedAtUtc: v.string(), person: text })),
  device: text,
  operator: text,
  work: text,
  note: text,
  deviceSerialNumber: text,
  deviceCertificate: text,
  measuredAtUtc: text,
  archivedAtUtc: text,
  timesInDoubt,
  length: number,
  width: number,
  height: number,
  dimsUnitOfMeasure: text,
  weight: number,
  weightUnitOfMeasure: text,
  legalForTrade: v.nullable(v.boolean()),
  billable: v.nullable(v.object({ weight: v.number(), unit: v.string() })),
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

const undeliveredOf = v.object({
  packages: v.array(
    v.object({ transactionReference: text, transactionId: text, acceptedAtUtc: v.string(), computer: text }),
  ),
  count: v.number(),
});
export const undelivered = v.object({ ...undeliveredOf.entries, pinned: undeliveredOf });
export type Undelivered = v.InferOutput<typeof undelivered>;

export const verification = v.object({
  verdict: v.string(),
  findings: v.array(v.object({ kind: v.string(), path: v.string(), problem: v.string() })),
  findingCount: v.number(),
  timesInDoubt,
  verifiedAtUtc: v.string(),
  /** As in the package. */
  damage: text,
  software: v.string(),
  /** Null if no valid one covers the package. */
  timestamp: v.nullable(v.object({ atUtc: v.string(), signer: v.string(), root: text, logSize: v.number() })),
});
export type Verification = v.InferOutput<typeof verification>;

export const choices = v.object({ devices: v.array(v.string()), works: v.array(v.string()) });
export type Choices = v.InferOutput<typeof choices>;

export const exported = v.object({ id: v.string() });

export const refusal = v.object({ reason: v.string(), text: v.optional(v.string()) });

export const language = v.object({ lang: v.string(), texts: v.record(v.string(), v.string()) });
