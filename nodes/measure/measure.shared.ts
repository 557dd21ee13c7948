import {
  deviceProperties,
  failureProperties,
  ifBlank,
  ignoreRepeats,
  nodeName,
  referenceProperties,
} from "../../src/saved/common-properties.ts";
import { defaultsOf, type PropertyTable, type Saved } from "../../src/saved/properties.ts";

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
  /** Which reference gets a unique id, by which the cloud's record of this very measure is found. */
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

/** What holds where a flow says nothing. */
export const defaults = defaultsOf(properties);
