import { checkInterval, nodeName, queueProperties, timeout } from "../../src/properties/common-properties.ts";
import { defaultsOf, type PropertyTable, type Saved } from "../../src/properties/property-table.ts";

const connection = { legend: "group.connection" } as const;

/** The saved properties of `dimensioner-cloud`, in the order of its form. */
export const properties = {
  name: nodeName,
  /** https; http only on loopback or with allowHttp. */
  baseUrl: {
    kind: "text",
    default: "",
    rule: "baseUrl",
    required: "shared:common.problem.baseUrlMissing",
    icon: "globe",
    placeholder: { text: "https://" },
  },
  allowHttp: { kind: "flag", default: false },
  token: {
    kind: "credential",
    required: "shared:common.problem.token",
    icon: "key",
    placeholder: "placeholder.token",
  },
  timeout: { ...timeout, default: 60 },
  checkInterval,
  ...queueProperties,
  tls: { kind: "config", of: "tls-config", icon: "lock", group: connection },
  /** Blank: the environment's proxy variables. */
  proxy: { kind: "config", of: "http proxy", icon: "random", group: connection },
} as const satisfies PropertyTable;

export type CloudProperties = Saved<typeof properties>;

/** The defaults: the value of each property that a saved node does not have. */
export const defaults = defaultsOf(properties);
