/** The saved properties of `dimensioner-cloud` and what they are when nothing is said; the token is a credential. */
export interface CloudProperties {
  /** Of what is saved, for migrations. */
  version: number;
  name: string;
  /** https origin; http only on loopback or with allowHttp. */
  baseUrl: string;
  allowHttp: boolean;
  /** Seconds; blank = 60. */
  timeout: string | number;
  /** How many commands to one device may wait; 0: none. */
  queueLimit: string | number;
  /** Seconds a command may wait; 0 = no limit. */
  maxWait: string | number;
  /** Seconds between two lists of devices that show whether the cloud answers; 0 = none. */
  checkInterval: string | number;
  /** Id of a core tls-config node. */
  tls: string;
  /** Id of a core http proxy node; blank = the environment's proxy variables. */
  proxy: string;
}

export const defaults: CloudProperties = {
  version: 1,
  name: "",
  baseUrl: "",
  allowHttp: false,
  timeout: 60,
  queueLimit: 10,
  maxWait: 30,
  checkInterval: 0,
  tls: "",
  proxy: "",
};
