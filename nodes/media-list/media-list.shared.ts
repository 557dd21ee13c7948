/** The saved properties of `dimensioner-media-list` and what they are when nothing is said. */
export interface MediaListProperties {
  /** Of what is saved, for migrations. */
  version: number;
  name: string;
  cloud: string;
  /** Name of the message property that names a deployed cloud; blank = always `cloud`. */
  cloudFrom: string;
  transactionId: string;
  transactionIdType: string;
  contentType: string;
  contentTypeType: string;
  emit: "array" | "split";
  /** Content types or descriptions that must be there, separated by commas. */
  expect: string;
  /** Seconds to wait for them. */
  wait: string | number;
}

export const defaults: MediaListProperties = {
  version: 1,
  name: "",
  cloud: "",
  cloudFrom: "",
  transactionId: "transactionId",
  transactionIdType: "msg",
  contentType: "",
  contentTypeType: "str",
  emit: "array",
  expect: "",
  wait: 0,
};
