import {
  cloudProperties,
  contentType,
  nodeName,
  transactionId,
} from "../../src/properties/common-properties.ts";
import { defaultsOf, type PropertyTable, type Saved } from "../../src/properties/property-table.ts";

const completeness = { legend: "group.wait" } as const;

/** The saved properties of `dimensioner-media-list`, in the order of its form. */
export const properties = {
  name: nodeName,
  ...cloudProperties,
  transactionId,
  contentType,
  emit: { kind: "choice", of: ["array", "split"], default: "array", icon: "sign-out" },
  /** Content types or descriptions that must be there, separated by commas. */
  expect: {
    kind: "text",
    default: "",
    icon: "check-square-o",
    placeholder: "placeholder.expect",
    note: "note.expect",
    group: completeness,
  },
  wait: {
    kind: "number",
    of: "wait",
    default: 0,
    icon: "hourglass-half",
    group: completeness,
    when: { expect: "given" },
  },
} as const satisfies PropertyTable;

export type MediaListProperties = Saved<typeof properties>;

/** The defaults: the value of each property that a saved node does not have. */
export const defaults = defaultsOf(properties);
