/** The saved properties of `dimensioner-fetch-media` and what they are when nothing is said. */
export interface FetchMediaProperties {
  /** Of what is saved, for migrations. */
  version: number;
  name: string;
  cloud: string;
  /** Name of the message property that names a deployed cloud; blank = always `cloud`. */
  cloudFrom: string;
  transactionId: string;
  transactionIdType: string;
  contentId: string;
  contentIdType: string;
  output: "buffer" | "file";
  folder: string;
  folderType: string;
  /** Blank = the suggested name. */
  filename: string;
  filenameType: string;
  ifExists: "rename" | "replace" | "error";
}

export const defaults: FetchMediaProperties = {
  version: 1,
  name: "",
  cloud: "",
  cloudFrom: "",
  transactionId: "transactionId",
  transactionIdType: "msg",
  contentId: "payload.contentId",
  contentIdType: "msg",
  output: "buffer",
  folder: "",
  folderType: "str",
  filename: "",
  filenameType: "str",
  ifExists: "rename",
};
