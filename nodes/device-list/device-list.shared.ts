import { cloudProperties, nodeName } from "../../src/properties/common-properties.ts";
import { defaultsOf, type PropertyTable, type Saved } from "../../src/properties/property-table.ts";

/** The saved properties of `dimensioner-device-list`, in the order of its form. */
export const properties = {
  name: nodeName,
  ...cloudProperties,
  emit: { kind: "choice", of: ["array", "split"], default: "array", icon: "sign-out" },
  /** Send only what has changed since the last message. */
  changesOnly: { kind: "flag", default: false },
  /** A device without a heartbeat for this many seconds counts as silent, which is a change; 0: never. */
  silentAfter: {
    kind: "number",
    of: "wait",
    default: 900,
    icon: "bell-slash-o",
    note: "note.silentAfter",
    when: { changesOnly: [true] },
  },
} as const satisfies PropertyTable;

export type DeviceListProperties = Saved<typeof properties>;

/** The defaults: the value of each property that a saved node does not have. */
export const defaults = defaultsOf(properties);
