import { cloudProperties, nodeName } from "../../src/saved/common-properties.ts";
import { defaultsOf, type PropertyTable, type Saved } from "../../src/saved/properties.ts";

/** The saved properties of `dimensioner-device-list`, in the order of its form. */
export const properties = {
  name: nodeName,
  ...cloudProperties,
  emit: { kind: "choice", of: ["array", "split"], default: "array", icon: "sign-out" },
  /** Send only what has changed since the last message. */
  changesOnly: { kind: "flag", default: false },
  /** Without a heartbeat for so long, a device has fallen silent, which counts as a change; 0: never. */
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

/** What holds where a flow says nothing. */
export const defaults = defaultsOf(properties);
