import { shared } from "../dashboard/nodes.ts";
import type { Properties } from "../dashboard/flow-builder.ts";
import { usualNoReads } from "../rules/scans.ts";

const blankReferences = {
  customReference1: "",
  customReference1Type: "str",
  customReference2: "",
  customReference2Type: "str",
  customReference3: "",
  customReference3Type: "str",
};
const command: Properties = {
  device: shared.device,
  deviceFrom: "dock",
  transactionReference: "transactionReference",
  transactionReferenceType: "msg",
  ifBlank: "error",
  ...blankReferences,
  ignoreRepeats: "0",
};

export const video = { ...command, action: "msg" };

/**
 * It names the second device, so that the Status node hears of both. The tag is the ID of the command, which the cloud's record of its
 * measurement brings back.
 */
export const measure = {
  ...command,
  device: shared.earlier,
  failures: "catch",
  tag: "customReference1",
};

export const archive = {
  store: shared.store,
  layout: "{date}/{reference}-{transactionId}",
  images: "annotated,color",
  cloud: "",
  cloudFrom: "cloud",
  transactionId: "transactionId",
  transactionIdType: "msg",
  contentType: "",
  contentTypeType: "str",
  media: "all",
  expect: "",
  expectType: "str",
  settle: "10",
  wait: "900",
  onIncomplete: "keep",
  concurrency: "2",
  giveUp: "72",
  warnAfter: "300",
  keep: "station, parcel, job, cloud, proof",
};

export const scan = {
  which: "auto",
  ai: "00",
  pattern: "",
  symbologies: "gs1,digitalLink,ean,other",
  invalid: "error",
  controls: "STATION_CANCEL, STATION_AGAIN, STATION_CONFIRM, STATION_LABEL",
  noReads: usualNoReads,
  dedupe: "0",
  framing: "message",
  gap: "100",
  separator: "",
};

export const billing = {
  version: 1,
  preset: "dhl-express",
  unit: "cm-kg",
  divisor: "5000",
  sideRounding: "none",
  productRounding: "0.5",
  threshold: "0",
  minimum: "0",
  weight: "measured",
  weightValue: "weight",
  weightValueType: "msg",
  weightUnit: "kg",
  requireLegalForTrade: false,
  extras: "long: longest > 60 cm; heavy: weight > 31.5 kg",
};

export const webhook = {
  path: "dimensioner/transaction",
  secretIn: "header",
  header: "x-webhook-secret",
  store: shared.store,
  onlyOk: false,
  deviceClientId: "",
  dedupe: "3600",
  queueLimit: "1000",
  credentials: { secret: "simulator" },
};

/** Its list is of no interest here: only whether the cloud answers. */
export const cloud = {
  cloud: shared.cloud,
  cloudFrom: "cloud",
  emit: "array",
  changesOnly: false,
  silentAfter: "900",
};

export const image = {
  device: shared.device,
  deviceFrom: "dock",
  image: "annotated",
  imageIdentifier: "imageIdentifier",
  imageIdentifierType: "msg",
  output: "buffer",
  folder: "",
  folderType: "str",
  filename: "",
  filenameType: "str",
  ifExists: "rename",
  preview: false,
};

const evidence = {
  version: 1,
  store: shared.store,
  value: "payload",
  valueType: "msg",
  emit: "array",
};

/** Which packages a parcel has already. */
export const find = { ...evidence, action: "find", by: "reference", limit: "20" };

/** Adds the number of a label that was bought after measuring. */
export const name = {
  ...evidence,
  action: "name",
  by: "packageId",
  numbers: "numbers",
  numbersType: "msg",
  reason: "reason",
  reasonType: "msg",
  person: "person",
  personType: "msg",
};

/** The flow that ASK names: what it does not answer in so many seconds is given up, but the station does not wait so long. */
export const call = { links: [], linkType: "dynamic", timeout: "30" };

export const done = {
  active: true,
  tosidebar: true,
  console: false,
  tostatus: true,
  complete: "transactionReference",
  targetType: "msg",
  statusVal: "topic",
  statusType: "msg",
};

export const file = {
  filename: "filename",
  filenameType: "msg",
  format: "",
  chunk: false,
  sendError: false,
  encoding: "none",
  allProps: true,
};
