/** The saved properties of `dimensioner-device-list` and what they are when nothing is said. */
export interface DeviceListProperties {
  /** Of what is saved, for migrations. */
  version: number;
  name: string;
  cloud: string;
  /** Name of the message property that names a deployed cloud; blank = always `cloud`. */
  cloudFrom: string;
  emit: "array" | "split";
  /** Send only what has changed since the last message. */
  changesOnly: boolean;
  /** Seconds without a heartbeat after which a device has fallen silent, which counts as a change; 0 = never. */
  silentAfter: string | number;
}

export const defaults: DeviceListProperties = {
  version: 1,
  name: "",
  cloud: "",
  cloudFrom: "",
  emit: "array",
  changesOnly: false,
  silentAfter: 900,
};
