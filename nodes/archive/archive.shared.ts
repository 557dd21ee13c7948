import { cloudProperties, contentType, nodeName, transactionId } from "../../src/saved/common-properties.ts";
import { defaultsOf, type PropertyTable, type Saved } from "../../src/saved/properties.ts";

const fromCloud = { when: { source: ["cloud"] } } as const;
const packages = { legend: "group.package" } as const;
const completeness = { legend: "group.wait" } as const;
const jobs = { legend: "group.jobs" } as const;

/** The saved properties of `dimensioner-archive`, in the order of its form. */
export const properties = {
  name: nodeName,
  /** Where the media come from: the cloud, or the message itself. */
  source: { kind: "choice", of: ["cloud", "message"], default: "cloud", icon: "sign-in" },
  cloud: { ...cloudProperties.cloud, ...fromCloud },
  cloudFrom: { ...cloudProperties.cloudFrom, ...fromCloud },
  transactionId,
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
  contentType: { ...contentType, group: completeness, ...fromCloud },
  /** Content types or descriptions that must be there, separated by commas. */
  expect: {
    kind: "text",
    default: "",
    icon: "check-square-o",
    placeholder: "placeholder.expect",
    note: "note.expect",
    group: completeness,
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
    ...fromCloud,
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
