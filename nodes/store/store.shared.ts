import { nodeName } from "../../src/saved/common-properties.ts";
import { defaultsOf, type PropertyTable, type Saved } from "../../src/saved/properties.ts";

/** The saved properties of `dimensioner-store`, in the order of its form. */
export const properties = {
  name: { ...nodeName, note: "note.file" },
} as const satisfies PropertyTable;

export type StoreProperties = Saved<typeof properties>;

/** What holds where a flow says nothing. */
export const defaults = defaultsOf(properties);
