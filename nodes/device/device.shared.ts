import { checkInterval, nodeName, queueProperties, timeout } from "../../src/properties/common-properties.ts";
import { defaultsOf, type PropertyTable, type Saved } from "../../src/properties/property-table.ts";

const instrument = { legend: "group.instrument", note: "note.instrument" } as const;

/** The saved properties of `dimensioner-device`, in the order of its form. */
export const properties = {
  name: nodeName,
  /** host, host:port, [v6]:port or an http(s) origin. */
  address: {
    kind: "text",
    default: "",
    rule: "deviceAddress",
    required: "shared:common.problem.addressMissing",
    icon: "globe",
    placeholder: "placeholder.address",
  },
  generation: {
    kind: "choice",
    of: ["newer", "earlier", "gateway"],
    default: "newer",
    icon: "cube",
    tips: { key: "tip", of: ["newer", "earlier", "gateway"] },
  },
  timeout: { ...timeout, default: 30 },
  checkInterval: { ...checkInterval, when: { generation: ["newer", "earlier"] } },
  ...queueProperties,
  /** As on the device's type plate; no API reports it. */
  serialNumber: { kind: "text", default: "", icon: "hashtag", group: instrument },
  /** The number of its type approval or of its verification for trade. */
  certificate: { kind: "text", default: "", icon: "certificate", group: instrument },
  /** What the cloud calls it, separated by commas: by that remote trigger and transaction in find the two above. */
  cloudIds: {
    kind: "text",
    default: "",
    icon: "cloud",
    placeholder: { text: "ABCD2345" },
    note: "note.cloudIds",
    group: instrument,
  },
} as const satisfies PropertyTable;

export type DeviceProperties = Saved<typeof properties>;

/** The defaults: the value of each property that a saved node does not have. */
export const defaults = defaultsOf(properties);
