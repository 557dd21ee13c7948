import { nodeName } from "../../src/properties/common-properties.ts";
import { defaultsOf, type PropertyTable, type Saved } from "../../src/properties/property-table.ts";

const packages = { legend: "group.packages" } as const;
const hold = { legend: "group.hold" } as const;
const deletion = { legend: "group.deletion" } as const;

/** The saved properties of `dimensioner-evidence`, in the order of its form. */
export const properties = {
  name: nodeName,
  store: { kind: "config", of: "dimensioner-store", icon: "database", required: "problem.store" },
  action: {
    kind: "choice",
    of: ["find", "missing", "verify", "hold", "release", "prune", "state", "msg"],
    default: "find",
    icon: "cog",
    tips: { key: "tip", of: ["missing", "verify", "hold", "prune", "state"] },
  },
  /** What the value is. */
  by: {
    kind: "choice",
    of: ["reference", "transactionId", "barcode", "packageId", "text", "period", "all"],
    default: "reference",
    icon: "search",
    group: packages,
    when: { action: ["find", "verify", "hold", "release", "msg"] },
  },
  /** What is searched for; of `missing`, the period. */
  value: {
    kind: "typed",
    default: "payload",
    type: "msg",
    icon: "barcode",
    note: "note.value",
    group: packages,
    when: { action: ["find", "missing", "verify", "hold", "release", "msg"] },
  },
  /** How many packages at most: the newest of `find` and `missing`; the other actions refuse more. */
  limit: {
    kind: "number",
    of: "amount",
    default: 100,
    icon: "list-ol",
    note: "note.limit",
    group: packages,
    when: { action: ["find", "missing", "verify", "hold", "release", "prune", "msg"] },
  },
  emit: {
    kind: "choice",
    of: ["array", "split"],
    default: "array",
    icon: "sign-out",
    group: packages,
    when: { action: ["find", "missing", "msg"] },
  },
  /** Why a package is held or released. */
  reason: {
    kind: "typed",
    default: "reason",
    type: "msg",
    icon: "commenting-o",
    required: "problem.reason",
    group: hold,
    when: { action: ["hold", "release", "msg"] },
  },
  /** Who does it. */
  person: {
    kind: "typed",
    default: "person",
    type: "msg",
    icon: "user-o",
    group: hold,
    when: { action: ["hold", "release", "msg"] },
  },
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
  /** Only lists what would be deleted. */
  dryRun: {
    kind: "flag",
    default: true,
    note: "note.dryRun",
    group: deletion,
    when: { action: ["prune", "msg"] },
  },
} as const satisfies PropertyTable;

export type EvidenceProperties = Saved<typeof properties>;

/** The defaults: the value of each property that a saved node does not have. */
export const defaults = defaultsOf(properties);
