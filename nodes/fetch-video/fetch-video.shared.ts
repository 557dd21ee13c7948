import { newerDeviceProperties, nodeName, outputProperties } from "../../src/properties/common-properties.ts";
import { defaultsOf, type PropertyTable, type Saved } from "../../src/properties/property-table.ts";

/** The saved properties of `dimensioner-fetch-video`, in the order of its form. */
export const properties = {
  name: nodeName,
  ...newerDeviceProperties,
  method: { kind: "choice", of: ["download", "stream"], default: "download", icon: "download" },
  /** For a video that is still being encoded. */
  wait: { kind: "number", of: "wait", default: 30, icon: "hourglass-half", note: "note.wait" },
  ...outputProperties,
} as const satisfies PropertyTable;

export type FetchVideoProperties = Saved<typeof properties>;

/** The defaults: the value of each property that a saved node does not have. */
export const defaults = defaultsOf(properties);
