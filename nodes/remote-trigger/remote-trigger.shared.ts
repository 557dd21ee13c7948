import {
  actionTips,
  cloudProperties,
  failureProperties,
  ignoreRepeats,
  nodeName,
  reference,
  transactionReference,
} from "../../src/properties/common-properties.ts";
import { defaultsOf, type PropertyTable, type Saved } from "../../src/properties/property-table.ts";

const customReference = {
  ...reference,
  default: "",
  type: "str",
  icon: "bookmark-o",
  when: { action: ["start", "msg"] },
} as const;

/** The saved properties of `dimensioner-remote-trigger`, in the order of its form. */
export const properties = {
  name: nodeName,
  ...cloudProperties,
  /** `msg` takes it from msg.action. */
  action: {
    kind: "choice",
    of: ["start", "stop", "cancel", "measure", "msg"],
    default: "start",
    icon: "bolt",
    label: "shared:common.label.action",
    texts: "shared:common.action",
    tips: actionTips,
  },
  deviceReference: {
    kind: "typed",
    default: "",
    type: "str",
    rule: "registrationCode",
    required: "shared:common.problem.deviceReference",
    icon: "cube",
    placeholder: "placeholder.deviceReference",
  },
  /** What the cloud calls the device that was picked from its list, for the label; blank where the code was typed. */
  deviceName: { kind: "text", default: "", isHidden: true },
  /** The cloud requires a reference with a start and a measure, and accepts none with the other actions. */
  transactionReference: {
    ...transactionReference,
    required: "shared:common.problem.reference",
    when: { action: ["start", "measure", "msg"] },
  },
  cRef1: customReference,
  cRef2: customReference,
  cRef3: customReference,
  ignoreRepeats: { ...ignoreRepeats, when: { action: ["start", "measure", "msg"] } },
  failures: { ...failureProperties.failures, when: { action: ["measure", "msg"] } },
  outputs: failureProperties.outputs,
} as const satisfies PropertyTable;

export type RemoteTriggerProperties = Saved<typeof properties>;

/** The defaults: the value of each property that a saved node does not have. */
export const defaults = defaultsOf(properties);
