import { checkInterval, nodeName, queueProperties, timeout } from "../../src/saved/common-properties.ts";
import { defaultsOf, type PropertyTable, type Saved } from "../../src/saved/properties.ts";

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
} as const satisfies PropertyTable;

export type DeviceProperties = Saved<typeof properties>;

/** What holds where a flow says nothing. */
export const defaults = defaultsOf(properties);
