/** The saved properties of `dimensioner-fetch-video` and what they are when nothing is said. */
export interface FetchVideoProperties {
  /** Of what is saved, for migrations. */
  version: number;
  name: string;
  device: string;
  /** Name of the message property that names a deployed device; blank = always `device`. */
  deviceFrom: string;
  method: "download" | "stream";
  /** Seconds to wait for a video that is still being encoded. */
  wait: string | number;
  output: "buffer" | "file";
  folder: string;
  folderType: string;
  /** Blank = the suggested name. */
  filename: string;
  filenameType: string;
  ifExists: "rename" | "replace" | "error";
}

export const defaults: FetchVideoProperties = {
  version: 1,
  name: "",
  device: "",
  deviceFrom: "",
  method: "download",
  wait: 30,
  output: "buffer",
  folder: "",
  folderType: "str",
  filename: "",
  filenameType: "str",
  ifExists: "rename",
};
