import { nodeName } from "../../src/properties/common-properties.ts";
import {
  defaultsOf,
  folderTypes,
  type PropertyTable,
  type Saved,
} from "../../src/properties/property-table.ts";

const ownRule = { group: { legend: "group.rule" }, when: { preset: ["own", "msg"] } } as const;
const ofFile = { group: { legend: "group.file" }, when: { preset: ["file"] } } as const;
const weight = { legend: "group.weight" } as const;
const checks = { legend: "group.checks" } as const;

/** The saved properties of `dimensioner-billable-weight`, in the order of its form. */
export const properties = {
  name: nodeName,
  /** A carrier of the table, one of a table file, a custom rule, or the carrier that msg.preset names. */
  preset: {
    kind: "choice",
    of: ["ups", "fedex", "usps", "dhl-express", "dhl-express-us", "dpd", "dpd-express", "file", "own", "msg"],
    default: "ups",
    icon: "truck",
  },
  /** The JSON file with a table of one's own. */
  tableFile: {
    kind: "typed",
    default: "",
    type: "str",
    types: folderTypes,
    required: "problem.tableFile",
    icon: "file-text-o",
    note: "note.tableFile",
    ...ofFile,
  },
  /** The name of a carrier in that table. */
  carrier: { kind: "typed", default: "", type: "str", required: "problem.carrier", icon: "truck", ...ofFile },
  unit: { kind: "choice", of: ["cm-kg", "in-lb"], default: "cm-kg", icon: "exchange", ...ownRule },
  /** The volume is divided by it. */
  divisor: { kind: "number", of: "positive", default: 5000, icon: "cube", note: "note.divisor", ...ownRule },
  sideRounding: {
    kind: "choice",
    of: ["none", "up", "nearest"],
    default: "none",
    icon: "arrows-h",
    ...ownRule,
  },
  /** The weight is rounded up to a multiple of it; 0: to the thousandth. */
  productRounding: {
    kind: "number",
    of: "quantity",
    default: 0.5,
    icon: "step-forward",
    note: "note.productRounding",
    ...ownRule,
  },
  /** Only a volume above it counts; 0: every volume does. */
  threshold: {
    kind: "number",
    of: "quantity",
    default: 0,
    icon: "filter",
    note: "note.threshold",
    ...ownRule,
  },
  /** The least weight that is billed. */
  minimum: { kind: "number", of: "quantity", default: 0, icon: "level-up", ...ownRule },
  /** Where the actual weight comes from. */
  weight: {
    kind: "choice",
    of: ["measured", "label", "given", "none"],
    default: "measured",
    icon: "balance-scale",
    group: weight,
    tips: { key: "tip", of: ["none"] },
  },
  /** The weight from a separate scale. */
  weightValue: {
    kind: "typed",
    default: "weight",
    type: "msg",
    required: "problem.weightValue",
    icon: "hashtag",
    group: weight,
    when: { weight: ["given"] },
  },
  weightUnit: {
    kind: "choice",
    of: ["kg", "g", "lb", "oz"],
    default: "kg",
    icon: "tag",
    group: weight,
    when: { weight: ["given"] },
  },
  /** Whether a measurement that is not certainly legal for trade ends in ERR_NOT_BILLABLE. */
  requireLegalForTrade: { kind: "flag", default: false, note: "note.requireLegalForTrade", group: checks },
  /** Limits in addition to those of the carrier, separated by semicolons. */
  extras: {
    kind: "text",
    default: "",
    rule: "limits",
    icon: "exclamation-triangle",
    placeholder: { text: "heavy: weight > 31.5 kg" },
    note: "note.extras",
    group: checks,
  },
} as const satisfies PropertyTable;

export type BillableWeightProperties = Saved<typeof properties>;

/** The defaults: the value of each property that a saved node does not have. */
export const defaults = defaultsOf(properties);
