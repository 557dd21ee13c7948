import { newerDeviceProperties, nodeName, outputProperties } from "../../src/saved/common-properties.ts";
import { defaultsOf, type PropertyTable, type Saved } from "../../src/saved/properties.ts";

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

/** What holds where a flow says nothing. */
export const defaults = defaultsOf(properties);
