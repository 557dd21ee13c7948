import { folder, nodeName } from "../../src/saved/common-properties.ts";
import { defaultsOf, storeFolderTypes, type PropertyTable, type Saved } from "../../src/saved/properties.ts";

/** The saved properties of `dimensioner-store`, in the order of its form. */
export const properties = {
  name: nodeName,
  /** Where packages lie. It has to exist; what needs the database alone works without it. */
  folder: { ...folder, types: storeFolderTypes, required: "problem.folder", note: "note.folder" },
} as const satisfies PropertyTable;

export type StoreProperties = Saved<typeof properties>;

/** What holds where a flow says nothing. */
export const defaults = defaultsOf(properties);
