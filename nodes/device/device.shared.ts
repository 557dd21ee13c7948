/** The saved properties of `dimensioner-device` and what they are when nothing is said. */
export interface DeviceProperties {
  /** Of what is saved, for migrations. */
  version: number;
  name: string;
  /** host, host:port, [v6]:port or an http(s) origin. */
  address: string;
  generation: "newer" | "earlier" | "gateway";
  /** Seconds; blank = 30. */
  timeout: string | number;
  /** How many commands may wait; 0: none. */
  queueLimit: string | number;
  /** Seconds a command may wait; 0 = no limit. */
  maxWait: string | number;
  /** Seconds between two pings that show whether the device answers; 0 = none. */
  checkInterval: string | number;
}

export const defaults: DeviceProperties = {
  version: 1,
  name: "",
  address: "",
  generation: "newer",
  timeout: 30,
  queueLimit: 10,
  maxWait: 30,
  checkInterval: 0,
};
