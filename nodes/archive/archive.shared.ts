import {
  cloudProperties,
  contentType,
  nodeName,
  transactionIdIfKnown,
} from "../../src/saved/common-properties.ts";
import { defaultsOf, type PropertyTable, type Saved } from "../../src/saved/properties.ts";

const packages = { legend: "group.package" } as const;
const media = { legend: "group.media", note: "note.media" } as const;
const completeness = { legend: "group.wait" } as const;
const jobs = { legend: "group.jobs" } as const;

/** The saved properties of `dimensioner-archive`, in the order of its form. */
export const properties = {
  name: nodeName,
  /** Where the packages lie, and where jobs are kept until their package is whole. */
  store: {
    kind: "config",
    of: "dimensioner-store",
    icon: "database",
    required: "problem.store",
    group: packages,
  },
  /** The package's folder below the store's. */
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
  /** What is fetched from the device on the local network that has measured, separated by commas. */
  images: { kind: "text", default: "annotated,color", icon: "picture-o", group: media },
  /** Also the video that a device keeps itself, where a stop has ended this parcel's recording. */
  deviceVideo: { kind: "flag", default: false, icon: "film", note: "note.deviceVideo", group: media },
  /** Whose media are collected; none: only what the message and the device have. */
  cloud: { ...cloudProperties.cloud, isOptional: true, group: media },
  cloudFrom: cloudProperties.cloudFrom,
  /** Blank or not on the message: the one that the cloud gives a local measurement is found. */
  transactionId: { ...transactionIdIfKnown, group: media },
  contentType: { ...contentType, group: media },
  /** What makes a package complete. */
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
  /** So long the cloud's list must not have grown. */
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
  /** Jobs that download at once. */
  concurrency: {
    kind: "number",
    of: "amount",
    default: 2,
    icon: "tasks",
    group: jobs,
  },
  /** A job that cannot go on ends in its error after so long; 0: never. */
  giveUp: {
    kind: "number",
    of: "hours",
    default: 72,
    icon: "stop-circle-o",
    note: "note.giveUp",
    group: jobs,
  },
  /** After so long the second output tells of a job that is not archived yet; 0: never. */
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
    icon: "bookmark-o",
    placeholder: "placeholder.keep",
    note: "note.keep",
    group: jobs,
  },
} as const satisfies PropertyTable;

export type ArchiveProperties = Saved<typeof properties>;

/** What holds where a flow says nothing. */
export const defaults = defaultsOf(properties);
