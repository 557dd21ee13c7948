import { languages } from "../rules/languages.ts";
import { folderTypes, type Group, type PropertyTable } from "./property-table.ts";

// Properties that several types have. Their texts are in the catalog that all types share.

const common = (key: string) => `shared:common.${key}` as const;

export const nodeName = {
  kind: "text",
  default: "",
  icon: "tag",
  label: common("label.name"),
  placeholder: common("placeholder.name"),
} as const satisfies PropertyTable[string];

const fromMessage = {
  kind: "nameFrom",
  isAdvanced: true,
} as const;

/** The device that a node uses; `generation` if it has to be a newer one. */
export const deviceProperties = {
  device: {
    kind: "config",
    of: "dimensioner-device",
    from: "deviceFrom",
    icon: "cube",
    label: common("label.device"),
  },
  deviceFrom: {
    ...fromMessage,
    label: common("label.deviceFrom"),
    placeholder: common("placeholder.deviceFrom"),
    note: common("note.deviceFrom"),
  },
} as const satisfies PropertyTable;

/** The same for nodes that need images or video. */
export const newerDeviceProperties = {
  ...deviceProperties,
  device: { ...deviceProperties.device, generation: "newer" },
} as const satisfies PropertyTable;

export const cloudProperties = {
  cloud: {
    kind: "config",
    of: "dimensioner-cloud",
    from: "cloudFrom",
    icon: "cloud",
    label: common("label.cloud"),
  },
  cloudFrom: {
    ...fromMessage,
    label: common("label.cloudFrom"),
    placeholder: common("placeholder.cloudFrom"),
    note: common("note.cloudFrom"),
  },
} as const satisfies PropertyTable;

/** The id that the cloud has given to a transaction. */
export const transactionIdIfKnown = {
  kind: "typed",
  default: "transactionId",
  type: "msg",
  icon: "key",
  label: common("label.transactionId"),
} as const satisfies PropertyTable[string];

/** The id of the transaction whose media are requested. */
export const transactionId = {
  ...transactionIdIfKnown,
  required: common("problem.transactionId"),
} as const satisfies PropertyTable[string];

/** Only media of this type; blank: all. */
export const contentType = {
  kind: "typed",
  default: "",
  type: "str",
  icon: "filter",
  label: common("label.contentType"),
  placeholder: common("placeholder.contentType"),
} as const satisfies PropertyTable[string];

const references: Group = {
  legend: common("group.references"),
  note: common("note.references"),
};

export const reference = {
  kind: "typed",
  group: references,
  placeholder: common("placeholder.notGiven"),
} as const;

export const transactionReference = {
  ...reference,
  default: "transactionReference",
  type: "msg",
  icon: "barcode",
  label: common("label.transactionReference"),
} as const satisfies PropertyTable[string];

/** What happens if a message has no reference. */
export const ifBlank = {
  kind: "choice",
  of: ["measure", "error"],
  default: "measure",
  group: references,
  icon: "question-circle-o",
  label: common("label.ifBlank"),
} as const satisfies PropertyTable[string];

/** For how long the same reference counts as a repeat, as from a scanner that reads a code twice; 0: never. */
export const ignoreRepeats = {
  kind: "number",
  of: "wait",
  default: 0,
  icon: "clone",
  label: common("label.ignoreRepeats"),
  note: common("note.ignoreRepeats"),
} as const satisfies PropertyTable[string];

const customReference = { ...reference, default: "", type: "str", icon: "bookmark-o" } as const;

/** The references of a parcel. */
export const referenceProperties = {
  transactionReference,
  customReference1: { ...customReference, label: common("label.customReference1") },
  customReference2: { ...customReference, label: common("label.customReference2") },
  customReference3: { ...customReference, label: common("label.customReference3") },
} as const satisfies PropertyTable;

/** Whether a failed measurement goes to the Catch node or to a second output. */
export const failureProperties = {
  failures: {
    kind: "choice",
    of: ["catch", "output"],
    default: "catch",
    icon: "exclamation-triangle",
    label: common("label.failures"),
    texts: common("failures"),
  },
  outputs: { kind: "outputs" },
} as const satisfies PropertyTable;

/** The folder that files are saved in. */
export const folder = {
  kind: "typed",
  default: "",
  type: "str",
  types: folderTypes,
  required: common("problem.folder"),
  icon: "folder-open-o",
  label: common("label.folder"),
  placeholder: common("placeholder.folder"),
} as const satisfies PropertyTable[string];

const output: Group = { legend: common("group.output") };
const toFile = { group: output, when: { output: ["file"] } } as const;

/** Whether a download goes onto the message or into a file. */
export const outputProperties = {
  output: {
    kind: "choice",
    of: ["buffer", "file"],
    default: "buffer",
    group: output,
    icon: "sign-out",
    label: common("label.output"),
    texts: common("output"),
  },
  folder: { ...folder, ...toFile },
  filename: {
    ...toFile,
    kind: "typed",
    default: "",
    type: "str",
    rule: "fileName",
    icon: "file-o",
    label: common("label.filename"),
    placeholder: common("placeholder.filename"),
  },
  ifExists: {
    ...toFile,
    kind: "choice",
    of: ["rename", "replace", "error"],
    default: "rename",
    icon: "files-o",
    label: common("label.ifExists"),
    texts: common("ifExists"),
  },
} as const satisfies PropertyTable;

/** The language of a report for people; `auto` is that of Node-RED. */
export const reportLanguage = {
  kind: "choice",
  of: ["auto", ...languages],
  default: "auto",
  icon: "language",
} as const satisfies PropertyTable[string];

/** The tips for the video actions. */
export const actionTips = { key: common("tip"), of: ["start", "stop", "cancel"] } as const;

const queue: Group = { legend: common("group.queue"), note: common("note.queue") };

/** How the commands of a config node wait in the queue. */
export const queueProperties = {
  queueLimit: {
    kind: "number",
    of: "count",
    default: 10,
    group: queue,
    icon: "list-ol",
    label: common("label.queueLimit"),
  },
  maxWait: {
    kind: "number",
    of: "wait",
    default: 30,
    group: queue,
    icon: "hourglass-half",
    label: common("label.maxWait"),
  },
} as const satisfies PropertyTable;

export const timeout = {
  kind: "number",
  of: "timeout",
  icon: "clock-o",
  label: common("label.timeout"),
  note: common("note.timeout"),
} as const;

/** Flows that were saved before this property existed have no check. */
export const checkInterval = {
  kind: "number",
  of: "wait",
  default: 30,
  ifBlank: 0,
  icon: "heartbeat",
  label: common("label.checkInterval"),
  note: common("note.checkInterval"),
} as const satisfies PropertyTable[string];
