import {
  deviceProperties,
  failureProperties,
  ifBlank,
  ignoreRepeats,
  nodeName,
  referenceProperties,
} from "../../src/properties/common-properties.ts";
import { defaultsOf, type PropertyTable, type Saved } from "../../src/properties/property-table.ts";

const { transactionReference, ...customReferences } = referenceProperties;

/** The saved properties of `dimensioner-measure`, in the order of its form. */
export const properties = {
  name: nodeName,
  ...deviceProperties,
  transactionReference,
  ifBlank,
  ...customReferences,
  ignoreRepeats,
  ...failureProperties,
  /** The reference that gets a unique id, by which the cloud's record of this measurement is found. */
  tag: {
    kind: "choice",
    of: ["none", "customReference1", "customReference2", "customReference3"],
    default: "none",
    occupies: true,
    isAdvanced: true,
    icon: "tags",
    note: "note.tag",
  },
} as const satisfies PropertyTable;

export type MeasureProperties = Saved<typeof properties>;

/** The defaults: the value of each property that a saved node does not have. */
export const defaults = defaultsOf(properties);
