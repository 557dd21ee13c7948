/** The saved properties of `dimensioner-video-control` and what they are when nothing is said. */
export interface VideoControlProperties {
  /** Of what is saved, for migrations. */
  version: number;
  name: string;
  device: string;
  /** Name of the message property that names a deployed device; blank = always `device`. */
  deviceFrom: string;
  /** What to do; `msg` takes it from msg.action. */
  action: "start" | "stop" | "cancel" | "msg";
  transactionReference: string;
  transactionReferenceType: string;
  customReference1: string;
  customReference1Type: string;
  customReference2: string;
  customReference2Type: string;
  customReference3: string;
  customReference3Type: string;
}

export const defaults: VideoControlProperties = {
  version: 1,
  name: "",
  device: "",
  deviceFrom: "",
  action: "start",
  transactionReference: "transactionReference",
  transactionReferenceType: "msg",
  customReference1: "",
  customReference1Type: "str",
  customReference2: "",
  customReference2Type: "str",
  customReference3: "",
  customReference3Type: "str",
};
