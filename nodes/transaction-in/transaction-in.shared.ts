import { nodeName } from "../../src/properties/common-properties.ts";
import { defaultsOf, type PropertyTable, type Saved } from "../../src/properties/property-table.ts";

const records = { legend: "group.filter" } as const;

/** The saved properties of `dimensioner-transaction-in`, in the order of its form. */
export const properties = {
  name: nodeName,
  /** Where the webhook is served, below httpNodeRoot. */
  path: {
    kind: "text",
    default: "dimensioner/transaction",
    rule: "webhookPath",
    required: "problem.pathMissing",
    icon: "globe",
    placeholder: { text: "dimensioner/transaction" },
  },
  /** Where in its requests the cloud sends the secret. */
  secretIn: {
    kind: "choice",
    of: ["header", "path", "none"],
    default: "header",
    icon: "lock",
    tips: { key: "tip", of: ["none"] },
  },
  header: {
    kind: "text",
    default: "x-webhook-secret",
    rule: "headerName",
    icon: "header",
    placeholder: { text: "x-webhook-secret" },
    when: { secretIn: ["header"] },
  },
  secret: {
    kind: "credential",
    required: "problem.secret",
    icon: "key",
    placeholder: "placeholder.secret",
    when: { secretIn: ["header", "path"] },
  },
  /** The store that keeps records before the cloud gets its response; blank: they are kept in memory only. */
  store: { kind: "config", of: "dimensioner-store", icon: "database", note: "note.store" },
  onlyOk: { kind: "flag", default: false, group: records },
  /** Ids of devices, separated by commas; blank: all. */
  deviceClientId: {
    kind: "text",
    default: "",
    icon: "filter",
    placeholder: "placeholder.deviceClientId",
    note: "note.deviceClientId",
    group: records,
  },
  /** The same record within this many seconds counts as a duplicate; 0: never. */
  dedupe: {
    kind: "number",
    of: "wait",
    default: 3600,
    icon: "clone",
    note: "note.dedupe",
    group: records,
  },
  /** How many records may wait for the flow. */
  queueLimit: { kind: "number", of: "amount", default: 1000, icon: "list-ol", group: records },
} as const satisfies PropertyTable;

export type TransactionInProperties = Saved<typeof properties>;

/** The defaults: the value of each property that a saved node does not have. */
export const defaults = defaultsOf(properties);
