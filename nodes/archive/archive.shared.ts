/** The saved properties of `dimensioner-archive` and what they are when nothing is said. */
export interface ArchiveProperties {
  /** Of what is saved, for migrations. */
  version: number;
  name: string;
  /** Where the media come from: the cloud, or the message itself. */
  source: "cloud" | "message";
  cloud: string;
  /** Name of the message property that names a deployed cloud; blank = always `cloud`. */
  cloudFrom: string;
  /** The archive's root; it has to exist. */
  folder: string;
  folderType: string;
  /** The package's folder below the root. */
  layout: string;
  transactionId: string;
  transactionIdType: string;
  /** Only media of this type; blank = all. */
  contentType: string;
  contentTypeType: string;
  /** Content types or descriptions that must be there, separated by commas. */
  expect: string;
  /** Seconds to wait for them; blank = 900. */
  wait: string | number;
  /** Jobs that download at once; blank = 2. */
  concurrency: string | number;
  onIncomplete: "error" | "keep";
  /** Hours after which a job that cannot go on ends in its error; 0 = never. */
  giveUp: string | number;
  /** Message properties that survive a restart, separated by commas. */
  keep: string;
}

export const defaults: ArchiveProperties = {
  version: 1,
  name: "",
  source: "cloud",
  cloud: "",
  cloudFrom: "",
  folder: "",
  folderType: "str",
  layout: "{date}/{reference}-{transactionId}",
  transactionId: "transactionId",
  transactionIdType: "msg",
  contentType: "",
  contentTypeType: "str",
  expect: "",
  wait: 900,
  concurrency: 2,
  onIncomplete: "error",
  giveUp: 72,
  keep: "",
};
