import {
  actionTips,
  ifBlank,
  ignoreRepeats,
  newerDeviceProperties,
  nodeName,
  referenceProperties,
} from "../../src/properties/common-properties.ts";
import { defaultsOf, type PropertyTable, type Saved } from "../../src/properties/property-table.ts";

/** Only the start of a recording takes references. */
const starts = { when: { action: ["start", "msg"] } } as const;

/** The saved properties of `dimensioner-video-control`, in the order of its form. */
export const properties = {
  name: nodeName,
  ...newerDeviceProperties,
  /** `msg` takes it from msg.action. */
  action: {
    kind: "choice",
    of: ["start", "stop", "cancel", "msg"],
    default: "start",
    icon: "video-camera",
    label: "shared:common.label.action",
    texts: "shared:common.action",
    tips: actionTips,
  },
  transactionReference: { ...referenceProperties.transactionReference, ...starts },
  ifBlank: { ...ifBlank, ...starts },
  customReference1: { ...referenceProperties.customReference1, ...starts },
  customReference2: { ...referenceProperties.customReference2, ...starts },
  customReference3: { ...referenceProperties.customReference3, ...starts },
  ignoreRepeats: { ...ignoreRepeats, ...starts },
} as const satisfies PropertyTable;

export type VideoControlProperties = Saved<typeof properties>;

/** The defaults: the value of each property that a saved node does not have. */
export const defaults = defaultsOf(properties);
