/** The saved properties of `dimensioner-remote-trigger` and what they are when nothing is said. */
export interface RemoteTriggerProperties {
  /** Of what is saved, for migrations. */
  version: number;
  name: string;
  cloud: string;
  /** Name of the message property that names a deployed cloud; blank = always `cloud`. */
  cloudFrom: string;
  /** What to do; `msg` takes it from msg.action. */
  action: "start" | "stop" | "cancel" | "measure" | "msg";
  deviceReference: string;
  deviceReferenceType: string;
  transactionReference: string;
  transactionReferenceType: string;
  cRef1: string;
  cRef1Type: string;
  cRef2: string;
  cRef2Type: string;
  cRef3: string;
  cRef3Type: string;
  /** Where a failed measurement goes: to the Catch node or to a second output. */
  failures: "catch" | "output";
}

export const defaults: RemoteTriggerProperties = {
  version: 1,
  name: "",
  cloud: "",
  cloudFrom: "",
  action: "start",
  deviceReference: "",
  deviceReferenceType: "str",
  transactionReference: "transactionReference",
  transactionReferenceType: "msg",
  cRef1: "",
  cRef1Type: "str",
  cRef2: "",
  cRef2Type: "str",
  cRef3: "",
  cRef3Type: "str",
  failures: "catch",
};
