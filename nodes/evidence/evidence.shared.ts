import {
  failureProperties,
  nodeName,
  outputProperties,
  reportLanguage,
  timeout,
} from "../../src/properties/common-properties.ts";
import { defaultsOf, type PropertyTable, type Saved } from "../../src/properties/property-table.ts";

const packages = { legend: "group.packages" } as const;
const filters = { legend: "group.filters" } as const;
const hold = { legend: "group.hold" } as const;
const report = { legend: "group.report" } as const;
const deletion = { legend: "group.deletion" } as const;
const timestamps = { legend: "group.timestamps", note: "note.timestamps" } as const;

const exports = ["export", "msg"] as const;
const listed = ["find", "csv", "msg"] as const;
const toFile = { action: exports, output: ["file"] } as const;

/** The saved properties of `dimensioner-evidence`, in the order of its form. */
export const properties = {
  name: nodeName,
  store: { kind: "config", of: "dimensioner-store", icon: "database", required: "problem.store" },
  action: {
    kind: "choice",
    of: [
      "find",
      "csv",
      "missing",
      "verify",
      "hold",
      "release",
      "name",
      "export",
      "prune",
      "timestamp",
      "checkpoint",
      "state",
      "msg",
    ],
    default: "find",
    icon: "cog",
    tips: {
      key: "tip",
      of: ["csv", "missing", "verify", "hold", "name", "export", "prune", "timestamp", "checkpoint", "state"],
    },
  },
  /** What the value is. */
  by: {
    kind: "choice",
    of: ["reference", "transactionId", "barcode", "packageId", "text", "size", "period", "all"],
    default: "reference",
    icon: "search",
    group: packages,
    when: { action: ["find", "csv", "verify", "hold", "release", "name", "export", "msg"] },
  },
  /** What is searched for; of `missing`, the period. */
  value: {
    kind: "typed",
    default: "payload",
    type: "msg",
    icon: "barcode",
    note: "note.value",
    group: packages,
    when: { action: ["find", "csv", "missing", "verify", "hold", "release", "name", "export", "msg"] },
  },
  /** How many packages at most: the newest of `find` and `missing`; the other actions refuse more. */
  limit: {
    kind: "number",
    of: "amount",
    default: 100,
    icon: "list-ol",
    note: "note.limit",
    group: packages,
    when: { action: ["find", "missing", "verify", "hold", "release", "export", "prune", "msg"] },
  },
  /** For how many minutes packages are verified, if all are; 0: until all were. A message may have a number of its own. */
  minutes: {
    kind: "number",
    of: "count",
    default: 0,
    icon: "clock-o",
    note: "note.minutes",
    group: packages,
    when: { action: ["verify", "msg"], by: ["all"] },
  },
  /** What is found only, of all that fits the value; a message may have a filter of its own. */
  filterDevice: {
    kind: "text",
    default: "",
    icon: "cube",
    group: filters,
    when: { action: listed },
  },
  filterWork: {
    kind: "text",
    default: "",
    icon: "briefcase",
    group: filters,
    when: { action: listed },
  },
  filterPeriod: {
    kind: "text",
    default: "",
    icon: "calendar",
    note: "note.filterPeriod",
    group: filters,
    when: { action: listed },
  },
  film: { kind: "flag", default: false, group: filters, when: { action: listed } },
  onHold: { kind: "flag", default: false, group: filters, when: { action: listed } },
  incomplete: { kind: "flag", default: false, group: filters, when: { action: listed } },
  emit: {
    kind: "choice",
    of: ["array", "split"],
    default: "array",
    icon: "sign-out",
    group: packages,
    when: { action: ["find", "missing", "msg"] },
  },
  outputs: failureProperties.outputs,
  /** Which numbers are added to the package, one or a list. */
  numbers: {
    kind: "typed",
    default: "numbers",
    type: "msg",
    icon: "hashtag",
    group: packages,
    when: { action: ["name", "msg"] },
  },
  /** Why a package is held or released, or where its numbers come from. */
  reason: {
    kind: "typed",
    default: "reason",
    type: "msg",
    icon: "commenting-o",
    required: "problem.reason",
    group: hold,
    when: { action: ["hold", "release", "name", "msg"] },
  },
  /** Who does it. */
  person: {
    kind: "typed",
    default: "person",
    type: "msg",
    icon: "user-o",
    group: hold,
    when: { action: ["hold", "release", "name", "msg"] },
  },
  /** The number of the claim that an export is for, in its reports; optional. */
  claim: {
    kind: "typed",
    default: "claim",
    type: "msg",
    icon: "file-text-o",
    note: "note.claim",
    group: report,
    when: { action: exports },
  },
  /** Of the reports in an export. */
  language: { ...reportLanguage, group: report, when: { action: exports } },
  output: { ...outputProperties.output, when: { action: exports } },
  folder: { ...outputProperties.folder, when: toFile },
  filename: { ...outputProperties.filename, when: toFile },
  ifExists: { ...outputProperties.ifExists, when: toFile },
  /** Packages that were archived before so many days are deleted. */
  olderThan: {
    kind: "number",
    of: "amount",
    default: 365,
    icon: "calendar",
    note: "note.olderThan",
    group: deletion,
    when: { action: ["prune", "msg"] },
  },
  /** So many GB stay free on the disk of the packages, or packages use no more than so many; 0: the age alone decides. */
  keepFree: {
    kind: "number",
    of: "quantity",
    default: 0,
    icon: "hdd-o",
    group: deletion,
    when: { action: ["prune", "msg"] },
  },
  useAtMost: {
    kind: "number",
    of: "quantity",
    default: 0,
    icon: "database",
    note: "note.space",
    group: deletion,
    when: { action: ["prune", "msg"] },
  },
  /** Only lists what would be deleted. */
  dryRun: {
    kind: "flag",
    default: true,
    note: "note.dryRun",
    group: deletion,
    when: { action: ["prune", "msg"] },
  },
  /** Deletes also where the clock of this computer and the archive contradict each other. No message can do that. */
  despiteClock: {
    kind: "flag",
    default: false,
    note: "note.despiteClock",
    group: deletion,
    when: { action: ["prune", "msg"] },
  },
  /** The time stamp server; http or https. */
  server: {
    kind: "text",
    default: "",
    rule: "timestampServer",
    icon: "globe",
    placeholder: { text: "https://" },
    group: timestamps,
    when: { action: ["timestamp", "msg"] },
  },
  /** A PEM file with the root certificates that the signers of time stamps are checked against; blank: they are not checked. */
  roots: {
    kind: "text",
    default: "",
    icon: "certificate",
    note: "note.roots",
    group: timestamps,
    when: { action: ["timestamp", "verify", "export", "msg"] },
  },
  /** Of one request to the server, with its repetitions. */
  timeout: {
    ...timeout,
    default: 30,
    group: timestamps,
    when: { action: ["timestamp", "msg"] },
  },
  user: {
    kind: "text",
    default: "",
    icon: "user-o",
    group: timestamps,
    when: { action: ["timestamp", "msg"] },
  },
  password: { kind: "credential", icon: "key", group: timestamps, when: { action: ["timestamp", "msg"] } },
  tls: {
    kind: "config",
    of: "tls-config",
    icon: "lock",
    group: timestamps,
    when: { action: ["timestamp", "msg"] },
  },
  /** Blank: the environment's proxy variables. */
  proxy: {
    kind: "config",
    of: "http proxy",
    icon: "random",
    group: timestamps,
    when: { action: ["timestamp", "msg"] },
  },
} as const satisfies PropertyTable;

export type EvidenceProperties = Saved<typeof properties>;

/** The defaults: the value of each property that a saved node does not have. */
export const defaults = defaultsOf(properties);
