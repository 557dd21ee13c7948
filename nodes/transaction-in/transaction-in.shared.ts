/** The saved properties of `dimensioner-transaction-in` and what they are when nothing is said; the secret is a credential. */
export interface TransactionInProperties {
  /** Of what is saved, for migrations. */
  version: number;
  name: string;
  /** Where the webhook is served, below httpNodeRoot. */
  path: string;
  /** Where the cloud shows its secret. */
  secretIn: "header" | "path" | "none";
  /** Name of that header. */
  header: string;
  /** Seconds within which the same record counts as a duplicate; 0 = never. */
  dedupe: string | number;
  /** How many records may wait for the flow; 1 or more. */
  queueLimit: string | number;
  onlyOk: boolean;
  /** Ids of devices, separated by commas; blank = all. */
  deviceClientId: string;
}

export const defaults: TransactionInProperties = {
  version: 1,
  name: "",
  path: "",
  secretIn: "header",
  header: "x-webhook-secret",
  dedupe: 3600,
  queueLimit: 1000,
  onlyOk: false,
  deviceClientId: "",
};
