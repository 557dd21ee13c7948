import * as v from "valibot";

/** Schemas of the control port's data, as far as the page shows them. */

const text = v.nullable(v.string());
const references = v.object({
  transactionReference: text,
  customReference1: text,
  customReference2: text,
  customReference3: text,
});

export const catalogueParcel = v.object({
  name: v.string(),
  title: v.string(),
  barcode: v.string(),
  lengthCm: v.number(),
  widthCm: v.number(),
  heightCm: v.number(),
  weightKg: v.number(),
});
export type CatalogueParcel = v.InferOutput<typeof catalogueParcel>;

const tableParcel = v.object({
  name: text,
  lengthCm: v.number(),
  widthCm: v.number(),
  heightCm: v.number(),
  weightKg: v.number(),
  barcode: v.string(),
  errorCode: v.number(),
  errorMessage: v.string(),
  pictured: v.object({ name: v.string(), title: v.string() }),
});
export type TableParcel = v.InferOutput<typeof tableParcel>;

const measurement = v.object({
  ...references.entries,
  at: v.string(),
  errorCode: v.number(),
  errorMessage: v.string(),
  dimsUnit: v.string(),
  weightUnit: v.string(),
  legalForTrade: v.boolean(),
  weight: v.number(),
  object: v.nullable(v.object({ length: v.number(), width: v.number(), height: v.number() })),
});
export type Measurement = v.InferOutput<typeof measurement>;

const newer = v.object({
  origin: v.string(),
  powered: v.boolean(),
  localApi: v.boolean(),
  mode: v.string(),
  measuring: v.boolean(),
  last: v.nullable(
    v.object({
      measurement,
      imageIdentifier: text,
      transactionId: v.string(),
      trigger: v.string(),
      barcode: text,
    }),
  ),
  recording: v.nullable(v.object({ startedAt: v.string(), references })),
  encodingEndsAt: text,
  savedVideo: v.nullable(
    v.object({
      recordingId: v.string(),
      savedAt: v.string(),
      references,
      bytes: v.number(),
      waitsForMeasurement: v.boolean(),
    }),
  ),
  parcel: v.nullable(tableParcel),
});
export type Newer = v.InferOutput<typeof newer>;

const listedFault = v.object({
  id: v.string(),
  name: v.optional(v.string()),
  surface: v.optional(v.string()),
  method: v.optional(v.string()),
  path: v.optional(v.string()),
  times: v.optional(v.number(), 1),
  after: v.optional(v.number(), 0),
  applied: v.number(),
  fault: v.looseObject({ kind: v.string() }),
});
export type ListedFault = v.InferOutput<typeof listedFault>;

export const state = v.object({
  now: v.string(),
  newer,
  earlier: v.object({
    origin: v.string(),
    measuring: v.boolean(),
    last: v.nullable(measurement),
    legalForTrade: v.boolean(),
    parcel: v.nullable(tableParcel),
  }),
  cloud: v.object({
    origin: v.string(),
    token: v.string(),
    deviceCode: v.string(),
    simulationMode: v.boolean(),
  }),
  scanner: v.object({
    host: v.string(),
    port: v.number(),
    on: v.boolean(),
    connections: v.number(),
    settings: v.object({ aim: v.boolean(), repeats: v.number(), chunkBytes: v.number() }),
    last: v.nullable(v.object({ at: v.string(), text: v.string(), receivers: v.number() })),
  }),
  faults: v.array(listedFault),
});
export type State = v.InferOutput<typeof state>;
export type Generation = "newer" | "earlier";

export const request = v.object({
  id: v.number(),
  surface: v.string(),
  method: v.string(),
  path: v.string(),
  query: v.string(),
  at: v.number(),
  outcome: v.string(),
  statusCode: v.optional(v.number()),
  tookMs: v.optional(v.number()),
});
export type Request = v.InferOutput<typeof request>;

const mediaItem = v.object({ contentId: v.string(), contentType: v.string(), description: v.string() });
export type MediaItem = v.InferOutput<typeof mediaItem>;

const transaction = v.object({
  ...references.entries,
  id: v.string(),
  kind: v.string(),
  trigger: text,
  barcodeReference: text,
  measurement: v.nullable(measurement),
  at: v.string(),
  media: v.array(mediaItem),
});
export type Transaction = v.InferOutput<typeof transaction>;

const post = v.object({
  url: v.string(),
  transactionId: v.string(),
  statusCode: v.nullable(v.number()),
  error: text,
});
export type Post = v.InferOutput<typeof post>;

export const recent = v.object({
  requests: v.array(request),
  transactions: v.array(transaction),
  webhooks: v.array(post),
});
export type Recent = v.InferOutput<typeof recent>;

export const transactionEvent = v.object({ transaction });
export const mediaEvent = v.object({ transactionId: v.string(), item: mediaItem });
export const webhookEvent = v.object({ post });
