/** The saved properties of `dimensioner-fetch-image` and what they are when nothing is said. */
export interface FetchImageProperties {
  /** Of what is saved, for migrations. */
  version: number;
  name: string;
  device: string;
  /** Name of the message property that names a deployed device; blank = always `device`. */
  deviceFrom: string;
  /** Which picture; `msg` takes it from msg.image. */
  image: "annotated" | "color" | "depth" | "msg";
  imageIdentifier: string;
  imageIdentifierType: string;
  output: "buffer" | "file";
  folder: string;
  folderType: string;
  /** Blank = the suggested name. */
  filename: string;
  filenameType: string;
  ifExists: "rename" | "replace" | "error";
  /** Keep the last image in memory, for the editor to show. */
  preview: boolean;
}

export const defaults: FetchImageProperties = {
  version: 1,
  name: "",
  device: "",
  deviceFrom: "",
  image: "annotated",
  imageIdentifier: "imageIdentifier",
  imageIdentifierType: "msg",
  output: "buffer",
  folder: "",
  folderType: "str",
  filename: "",
  filenameType: "str",
  ifExists: "rename",
  preview: false,
};
