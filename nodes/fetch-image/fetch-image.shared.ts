import { newerDeviceProperties, nodeName, outputProperties } from "../../src/properties/common-properties.ts";
import { defaultsOf, type PropertyTable, type Saved } from "../../src/properties/property-table.ts";

/** The saved properties of `dimensioner-fetch-image`, in the order of its form. */
export const properties = {
  name: nodeName,
  ...newerDeviceProperties,
  /** `msg` takes it from msg.image. */
  image: {
    kind: "choice",
    of: ["annotated", "color", "depth", "msg"],
    default: "annotated",
    icon: "picture-o",
  },
  imageIdentifier: {
    kind: "typed",
    default: "imageIdentifier",
    type: "msg",
    required: "shared:common.problem.imageIdentifier",
    icon: "key",
  },
  ...outputProperties,
  /** Keep the last image in memory, for the editor to show. */
  preview: { kind: "flag", default: false },
} as const satisfies PropertyTable;

export type FetchImageProperties = Saved<typeof properties>;

/** The defaults: the value of each property that a saved node does not have. */
export const defaults = defaultsOf(properties);
