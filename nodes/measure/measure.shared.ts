import {
  deviceProperties,
  failureProperties,
  nodeName,
  referenceProperties,
} from "../../src/saved/common-properties.ts";
import { defaultsOf, type PropertyTable, type Saved } from "../../src/saved/properties.ts";

/** The saved properties of `dimensioner-measure`, in the order of its form. */
export const properties = {
  name: nodeName,
  ...deviceProperties,
  ...referenceProperties,
  ...failureProperties,
} as const satisfies PropertyTable;

export type MeasureProperties = Saved<typeof properties>;

/** What holds where a flow says nothing. */
export const defaults = defaultsOf(properties);
