import { folder, nodeName } from "../../src/properties/common-properties.ts";
import {
  defaultsOf,
  storeFolderTypes,
  type PropertyTable,
  type Saved,
} from "../../src/properties/property-table.ts";

/** The saved properties of `dimensioner-store`, in the order of its form. */
export const properties = {
  name: nodeName,
  /** The folder of the packages. It has to exist; nodes that need only the database work without it. */
  folder: { ...folder, types: storeFolderTypes, required: "problem.folder", note: "note.folder" },
} as const satisfies PropertyTable;

export type StoreProperties = Saved<typeof properties>;

/** The defaults: the value of each property that a saved node does not have. */
export const defaults = defaultsOf(properties);
