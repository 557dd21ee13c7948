import {
  cloudProperties,
  contentType,
  nodeName,
  transactionIdIfKnown,
} from "../../src/properties/common-properties.ts";
import { defaultsOf, type PropertyTable, type Saved } from "../../src/properties/property-table.ts";

const packages = { legend: "group.package" } as const;
const media = { legend: "group.media", note: "note.media" } as const;
const completeness = { legend: "group.wait" } as const;
const jobs = { legend: "group.jobs" } as const;

/** The saved properties of `dimensioner-archive`, in the order of its form. */
export const properties = {
  name: nodeName,
  /** The store: where packages are kept, and where jobs are kept until their package is whole. */
  store: {
    kind: "config",
    of: "dimensioner-store",
    icon: "database",
    required: "problem.store",
    group: packages,
  },
  /** The package's folder, below the store's folder. */
  layout: {
    kind: "text",
    default: "{date}/{reference}-{transactionId}",
    rule: "layout",
    required: "problem.layout",
    icon: "sitemap",
    placeholder: { text: "{date}/{reference}-{transactionId}" },
    note: "note.layout",
    group: packages,
  },
  /** The images to fetch from the device on the local network that measured, separated by commas. */
  images: { kind: "text", default: "annotated,color", icon: "picture-o", group: media },
  /** Whether to archive the video that the device itself keeps after a stop ended this parcel's recording. */
  deviceVideo: { kind: "flag", default: false, icon: "film", note: "note.deviceVideo", group: media },
  /** The cloud whose media are collected; none: only those of the message and the device. */
  cloud: { ...cloudProperties.cloud, isOptional: true, group: media },
  cloudFrom: cloudProperties.cloudFrom,
  /** If it is blank, or the message does not have it, the transaction of a local measurement is searched for. */
  transactionId: { ...transactionIdIfKnown, group: media },
  contentType: { ...contentType, group: media },
  /** Which media make a package complete. */
  media: {
    kind: "choice",
    of: ["all", "pictures", "list", "none"],
    default: "all",
    icon: "check-square-o",
    note: "note.complete",
    group: completeness,
  },
  /** Content types or descriptions that must be there, separated by commas. */
  expect: {
    kind: "typed",
    default: "",
    type: "str",
    required: "problem.expect",
    icon: "list-ul",
    placeholder: "placeholder.expect",
    note: "note.expect",
    group: completeness,
    when: { media: ["list"] },
  },
  /** The list of the cloud's media is complete when it has not grown for this many seconds. */
  settle: {
    kind: "number",
    of: "wait",
    default: 60,
    icon: "clock-o",
    note: "note.settle",
    group: completeness,
    when: { media: ["all", "pictures"] },
  },
  wait: { kind: "number", of: "wait", default: 900, icon: "hourglass-half", group: completeness },
  onIncomplete: {
    kind: "choice",
    of: ["error", "keep"],
    default: "error",
    icon: "exclamation-triangle",
    group: completeness,
  },
  /** How many jobs may download at the same time. */
  concurrency: {
    kind: "number",
    of: "amount",
    default: 2,
    icon: "tasks",
    group: jobs,
  },
  /** After this many hours a job that cannot continue ends in its error; 0: never. */
  giveUp: {
    kind: "number",
    of: "hours",
    default: 72,
    icon: "stop-circle-o",
    note: "note.giveUp",
    group: jobs,
  },
  /** After this many seconds the second output reports a parcel that is not archived yet; 0: never. */
  warnAfter: {
    kind: "number",
    of: "wait",
    default: 300,
    icon: "bell-o",
    note: "note.warnAfter",
    group: jobs,
  },
  /** Message properties that survive a restart, separated by commas. */
  keep: {
    kind: "text",
    default: "",
    rule: "messageProperties",
    icon: "bookmark-o",
    placeholder: "placeholder.keep",
    note: "note.keep",
    group: jobs,
  },
} as const satisfies PropertyTable;

export type ArchiveProperties = Saved<typeof properties>;

/** The defaults: the value of each property that a saved node does not have. */
export const defaults = defaultsOf(properties);
