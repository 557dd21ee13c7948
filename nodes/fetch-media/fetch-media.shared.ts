import {
  cloudProperties,
  nodeName,
  outputProperties,
  transactionId,
} from "../../src/properties/common-properties.ts";
import { defaultsOf, type PropertyTable, type Saved } from "../../src/properties/property-table.ts";

/** The saved properties of `dimensioner-fetch-media`, in the order of its form. */
export const properties = {
  name: nodeName,
  ...cloudProperties,
  transactionId,
  contentId: {
    kind: "typed",
    default: "payload.contentId",
    type: "msg",
    required: "shared:common.problem.contentId",
    icon: "file-image-o",
  },
  ...outputProperties,
} as const satisfies PropertyTable;

export type FetchMediaProperties = Saved<typeof properties>;

/** The defaults: the value of each property that a saved node does not have. */
export const defaults = defaultsOf(properties);
